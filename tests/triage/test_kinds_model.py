"""The shipped model of kinds: numbers only, quick, and right where the words are plain."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.triage import KINDS, model

NUMBERS = json.loads((Path(model.__file__).parent / "model.json").read_text(encoding="utf-8"))

PLAIN = {
    "How to slice a tensor by the indices in another tensor?": "implementation",
    "How can I write a custom layer with two inputs in Keras?": "implementation",
    "ValueError: Input 0 of layer dense is incompatible with the layer: expected axis -1": "program-crash",
    "RuntimeError: expected scalar type Float but found Double in my forward pass": "program-crash",
    "Loss becomes NaN after a few epochs and accuracy stays at 10%": "training-anomaly",
    "My network does not converge, validation accuracy is constant": "training-anomaly",
    "Convert a Keras model to TensorFlow Lite for Android": "model-migration",
    "Serving a saved model with TensorFlow Serving and docker": "model-migration",
    "Training is much slower on the GPU than on the CPU": "performance",
    "GPU utilization is very low, data loading is slow": "performance",
    "What is the difference between sparse and categorical cross entropy?": "comprehension",
    "What does the global_step mean in tensorflow?": "comprehension",
    "ImportError: DLL load failed while installing tensorflow with pip on windows": "installation",
    "pip could not find a version that satisfies the requirement torch": "installation",
}


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_question_is_of_its_kind(text: str):
    probabilities = model.kinds(text)
    assert max(probabilities, key=probabilities.__getitem__) == PLAIN[text]


@given(st.text(max_size=400))
def test_whatever_is_asked_the_probabilities_are_of_the_seven_kinds_and_add_up_to_one(text: str):
    probabilities = model.kinds(text)
    assert set(probabilities) == set(KINDS)
    assert all(share >= 0 for share in probabilities.values())
    assert sum(probabilities.values()) == pytest.approx(1)


def test_words_that_say_nothing_leave_it_open():
    assert max(model.kinds("").values()) < 0.5


def test_every_term_has_its_numbers():
    terms = NUMBERS["terms"].split("\n")
    assert len(set(terms)) == len(terms)
    assert len(base64.b64decode(NUMBERS["rarity"])) == len(terms)
    assert len(base64.b64decode(NUMBERS["weights"])) == len(terms) * len(KINDS)


def test_no_term_is_longer_than_two_words_so_that_no_post_can_be_read_out_of_it():
    assert all(
        term.count(" ") <= 2 if term.startswith("~") else term.count(" ") <= 1 for term in NUMBERS["terms"].split("\n")
    )


def test_it_needs_the_standard_library_alone():
    program = "import sys; from sleuth.triage import model; model.kinds('x'); print('numpy' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
