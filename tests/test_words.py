"""Texts become terms that keep what tells kinds of problem apart, whatever the text looks like."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from sleuth.words import HEAD, TAIL, plain, signs, terms, words


def _letters(text: str) -> set[str]:
    return {term for term in terms(text) if term.startswith("~")}


def test_identifiers_come_in_parts_and_whole() -> None:
    found = words("use tf.nn.softmax_cross_entropy on BatchNormLayer")
    assert {"tf", "nn", "softmax", "cross", "entropy", "softmax_cross_entropy"} <= set(found)
    assert {"batch", "norm", "layer", "batchnormlayer"} <= set(found)


def test_an_error_class_is_kept_as_one_word() -> None:
    assert "valueerror" in words("ValueError: bad shape")
    assert "cuda" in words("torch.cuda.OutOfMemoryError")
    assert "outofmemoryerror" in words("OutOfMemoryError")


@pytest.mark.parametrize("name", ["PyTorch", "TensorFlow", "NumPy"])
def test_a_product_written_in_two_halves_is_one_word(name: str) -> None:
    assert words(name) == words(name.lower()) == [name.lower()]


def test_a_name_is_not_split_into_single_letters() -> None:
    assert words("NaN") == ["nan"]


def test_numbers_are_one_sign_and_digits_within_names_stay() -> None:
    assert words("lr 0.001 or 1e-4 at 0x7ffe, 32") == ["lr", "0", "or", "0", "at", "0", "0"]
    assert "conv2d" in words("nn.Conv2d(3, 8)")


def test_neighbouring_words_make_a_pair() -> None:
    assert "how to" in terms("how to pad")
    assert "to pad" in terms("how to pad")


def test_letters_within_words_are_those_of_scikit_learn() -> None:
    reference = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)).build_analyzer()
    for text in ("how to restore a saved model", "a b", "tensorflow"):
        assert sorted(_letters(text)) == sorted({"~" + gram for gram in reference(text)})


def test_mark_up_is_left_out_and_code_that_looks_like_it_stays() -> None:
    assert plain('<p>a &lt; b <a href="http://x.y/z">c</a></p>').split() == ["a", "<", "b", "c"]
    assert "tensor<float>" in plain("<code>Tensor<float></code>".lower())


def test_an_address_is_cut_to_its_host() -> None:
    assert words("see https://github.com/someone/project/issues/7?x=nan") == ["see", "github", "com"]


def test_a_contraction_is_one_word() -> None:
    assert words("it doesn\u2019t fall") == ["it", "doesn't", "fall"]


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("How to save a model", "=starts-with-how-to"),
        ("Keras: how can I slice this", "=asks-how"),
        ("What is a logit?", "=asks-what"),
        ("Why is loss zero", "=asks-why"),
        ("difference between a and b", "=asks-to-understand"),
        ("is it broken?", "=ends-with-question"),
        ("x\n\nTraceback (most recent call last):\n", "=traceback"),
        ('x\n  File "a.py", line 3, in f', "=traceback"),
        ("RuntimeError: CUDA out of memory", "=out-of-memory"),
        ("RuntimeError: no", "=raises"),
        ("x\npip install torch", "=shell"),
        ("with torch 1.13.1", "=version"),
        ("Epoch 3/10 loss: 0.31", "=training-log"),
        ("takes 30 ms", "=duration"),
        ("12 GB of memory", "=amount-of-memory"),
        ("stuck at 10 %", "=percent"),
        ("shape (None, 28, 28)", "=shape"),
        ("loss is nan", "=not-a-number"),
        ("load model.h5", "=model-file"),
        ("x\n\nimport torch\n", "=code"),
    ],
)
def test_a_sign_is_seen_in_its_text_and_not_in_another(text: str, sign: str) -> None:
    assert sign in signs(text)
    assert sign in terms(text)
    assert sign not in signs("gradient of a layer")


def test_the_first_line_alone_says_what_is_asked() -> None:
    assert "=asks-why" not in signs("loss of a layer\n\nI do not know why")


def test_of_a_very_long_text_the_start_and_the_end_are_read() -> None:
    found = words("first " + "middle " * 100_000 + "ValueError")
    assert found[0] == "first"
    assert "valueerror" in found
    assert len(plain("x" * 10**6)) <= HEAD + TAIL + 1


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_becomes_terms_that_tell_their_block(text: str) -> None:
    for term in terms(text):
        assert term
        assert "\n" not in term
        assert term == term.lower() or not term.isascii()


@pytest.mark.parametrize(
    "piece", ["<p ", "(1,", "1.1.1.", "aError", "how ", "? ", "\t\n", "aA", "_", "a.", "&amp;", "x = ", "\ud800"]
)
def test_terms_of_hostile_repetition_are_bounded(piece: str) -> None:
    assert len(terms(piece * 50_000)) < 20 * (HEAD + TAIL)


def test_nothing_but_the_standard_library_is_loaded() -> None:
    code = "import sys, sleuth.words; print([m for m in ('numpy', 'sklearn', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
