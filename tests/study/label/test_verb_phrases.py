"""Titles give up their verb and object, and what they give is in the codebooks."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.cli import main
from sleuth.study import corpus as corpora
from sleuth.study.label.codebook import load_codebook
from sleuth.study.label.store import read_labels
from sleuth.study.phrases import extract
from sleuth.study.phrases.inflection import plain
from sleuth.study.phrases.lexicon import lexicon

TAXONOMY, VERBS = load_codebook("taxonomy"), load_codebook("verbs")


@pytest.mark.parametrize(
    ("title", "verb", "label"),
    [
        ("How to flip a tensor along one axis in PyTorch?", "reverse", "data-processing/tensor"),
        ("TensorFlow: how do I split my pictures into tiles", "split", "data-processing/image"),
        ("Is there a way to multiply two sparse matrices?", "multiply", "data-processing/matrix"),
        ("What is the best way to pad batches of different length?", "pad", "data-processing/batch"),
        ("Slicing a tensor with a mask", "slice", "data-processing/tensor"),
        # The side of a thing is not the thing.
        ("How to find the shape of a tensor at run time", "get", "data-processing/tensor"),
        ("How can I change the shape of a matrix?", "reshape", "data-processing/matrix"),
        # What is acted on comes first, what it becomes does not count.
        ("How to turn a list of floats into a tensor", "convert", "data-processing/data"),
        ("How to efficiently cast a tensor to an image", "convert", "data-processing/tensor"),
        # With some verbs, it is where something goes.
        ("How to append a row to a matrix", "append", "data-processing/matrix"),
        # A verb that says little hands over to one that says more.
        ("How to use a mask to select pixels of an image", "select", "data-processing/image"),
        ("How to take the average of a tensor", "average", "data-processing/tensor"),
        ("How to make a prediction for one picture", "test", "model-prediction/model"),
        # The same verb of another object.
        ("How to load a big CSV file", "read", "data-processing/data"),
        ("How to load a model again", "restore", "model-setting/model"),
        ("How to write a custom loss", "compute", "model-training/loss"),
        ("How to add dropout", "create", "model-setting/layer"),
        ("How to feed my arrays to a network", "feed", "model-setting/model"),
        # Names out of programs.
        ("How to build a tf.keras.layers.Layer", "create", "model-setting/layer"),
        ("How to mask nn.CrossEntropyLoss", "mask", "model-training/loss"),
        # Phases.
        ("How to train a network on two machines", "train", "model-training/model"),
        ("How to plot the activations of a layer", "display", "visualization/layer"),
        ("How to compute precision for each class", "compute", "model-evaluation/other-metrics"),
        ("How to limit the GPU memory of one process", "use", "runtime-environment/gpu-memory"),
        ("How to fine-tune a pretrained model", "tune", "model-training/trained-model"),
        ("How to split data into train and test sets", "split", "data-processing/dataset"),
    ],
)
def test_a_title_says_what_is_done_to_what(title: str, verb: str, label: str) -> None:
    phrase = extract(title)
    assert phrase is not None
    assert (phrase.verb, phrase.label) == (verb, label)


@pytest.mark.parametrize("title", ["", "?", "The loss of my model is NaN", "ValueError: shapes do not fit", "数据"])
def test_a_title_that_asks_to_do_nothing_has_no_phrase(title: str) -> None:
    assert extract(title) is None


def test_an_unknown_verb_after_how_to_is_still_the_verb() -> None:
    phrase = extract("How to frobnicate a tensor")
    assert phrase is not None
    assert (phrase.verb, phrase.group, phrase.label) == ("frobnicate", None, "data-processing/tensor")


WORDS = [*lexicon().verbs, *lexicon().objects, *lexicon().sides, *lexicon().actions, *lexicon().frameworks]
TITLES = st.lists(
    st.sampled_from([*WORDS, *"how to of in the a to with for and into , ? ( ) / tf.Variable".split()]), max_size=12
)


@given(st.one_of(st.text(max_size=60), TITLES.map(" ".join), TITLES.map(lambda words: "How to " + " ".join(words))))
def test_whatever_a_title_holds_its_phrase_is_in_the_codebooks(title: str) -> None:
    phrase = extract(title)
    if phrase is not None:
        assert phrase.label in TAXONOMY
        assert phrase.group is None or phrase.group in VERBS
        assert phrase.verb


@given(st.sampled_from(sorted(lexicon().verbs)), st.sampled_from(["How to {} it", "how do I {} it", "HOW TO {} IT"]))
def test_every_verb_of_the_lexicon_is_found_after_how_to(word: str, pattern: str) -> None:
    phrase = extract(pattern.format(word))
    assert phrase is not None
    assert phrase.word == word


def test_the_lexicon_names_only_what_the_codebooks_have() -> None:
    words = lexicon()
    things = {label.name.partition("/")[2] for label in TAXONOMY.choosable}
    assert set(words.objects.values()) <= things
    assert set(words.groups.values()) == {label.name for label in VERBS.labels}
    assert set(words.actions.values()) <= set(words.verbs.values())


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("slicing", "slice"),
        ("slices", "slice"),
        ("splitting", "split"),
        ("padded", "pad"),
        ("copies", "copy"),
        ("matrices", "matrix"),
        ("indices", "index"),
        ("losses", "loss"),
        ("loss", "loss"),
        ("fed", "feed"),
        ("nothing", "nothing"),
    ],
)
def test_words_are_brought_to_their_plain_form(word: str, form: str) -> None:
    assert plain(word, {"slice", "split", "pad", "copy", "matrix", "index", "loss", "feed"}) == form


@pytest.fixture
def corpus(tmp_path: Path) -> corpora.Corpus:
    folder = tmp_path / "corpus"
    (folder / corpora.POSTS).mkdir(parents=True)
    titles = ["How to slice a tensor", "How to train a model", "It crashes", None]
    rows = [{"key": f"so:{n}", "kind_of_post": "question", "title": title} for n, title in enumerate(titles)]
    rows.append({"key": "so:9", "kind_of_post": "answer", "title": "How to slice a tensor"})
    pq.write_table(pa.Table.from_pylist(rows, corpora.COLUMNS), folder / corpora.POSTS / "part-00000.parquet")
    corpora.write_manifest(folder, {"posts": len(rows)})
    return corpora.open_corpus(folder)


def test_the_command_counts_the_phrases_of_a_corpus(corpus: corpora.Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "phrases", str(corpus.folder)]) == 0
    assert capsys.readouterr().out.startswith("2 of 3 titles ask to do something\n")
    assert main(["study", "phrases", str(corpus.folder), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["objects"] == [
        {"name": "data-processing/tensor", "posts": 1},
        {"name": "model-training/model", "posts": 1},
    ]
    assert told["groups"] == [{"name": "transform", "posts": 1}]


def test_the_command_writes_labels_and_tables_and_overwrites_neither_unasked(
    corpus: corpora.Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels, table = tmp_path / "phrases.jsonl", tmp_path / "phrases.csv"
    for into in (labels, table):
        assert main(["study", "phrases", str(corpus.folder), "--into", str(into)]) == 0
    assert {(label.key, label.codebook, label.label) for label in read_labels(labels)} == {
        ("so:0", "taxonomy", "data-processing/tensor"),
        ("so:0", "verbs", "transform"),
        ("so:1", "taxonomy", "model-training/model"),
    }
    with open(table, newline="") as file:
        assert [(row["key"], row["verb"]) for row in csv.DictReader(file)] == [("so:0", "slice"), ("so:1", "train")]
    capsys.readouterr()
    before = labels.read_bytes()
    assert main(["study", "phrases", str(corpus.folder), "--into", str(labels)]) == 2
    assert capsys.readouterr().err == f"sleuth: {labels} is there already; --force replaces it\n"
    assert labels.read_bytes() == before
    assert main(["study", "phrases", str(corpus.folder), "--into", str(labels), "--force"]) == 0


def test_the_command_reads_one_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "phrases", "--title", "How to slice a tensor"]) == 0
    assert capsys.readouterr().out == "slice (transform): tensor, in data-processing\n"


@pytest.mark.parametrize("options", [[], ["nowhere"], ["c", "--title", "x"], ["nowhere", "--into", "phrases.txt"]])
def test_the_command_refuses_in_one_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "phrases", *options]) == 2
    assert capsys.readouterr().err.count("\n") == 1
