"""What a text rules out speaks against a diagnosis: denials, hedges, remedies that did not help, and what is fine."""

from __future__ import annotations

import pytest

from sleuth.triage import ask
from sleuth.triage.denial import heard


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("This isn't overfitting, both losses are high.", "overfitting"),
        ("There are no NaNs anywhere, but the loss is stuck.", "NaNs"),
        ("I first thought of exploding gradients, but their norm is 0.1.", "exploding"),
        ("The learning rate is not to blame.", "learning rate"),
        ("We ruled out a memory leak; the loss diverges.", "memory leak"),
        ("Memory stays flat, however each epoch is slower.", "Memory"),
        ("Lowering the learning rate did not help.", "learning rate"),
        ("Not sure whether that is class imbalance.", "imbalance"),
        ("Resuming from the checkpoint works fine.", "checkpoint"),
        ("It got three times faster, fine, but the accuracy fell.", "faster"),
    ],
)
def test_what_is_ruled_out_is_not_heard(text: str, denied: str) -> None:
    said = heard(text)
    assert denied not in said.affirmed
    assert any(denied in clause for clause in said.denied)
    assert len(said.affirmed) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "My network does not learn.",
        "The weights don't change.",
        "It does not look like it learns anything.",
        "I have no idea why the loss is nan.",
        "Nothing fixes the NaN.",
        "I can't get rid of the overfitting.",
        "The loss is not only noisy but diverges.",
        "Without gradient clipping the loss becomes NaN.",
        "The training accuracy is good but the validation accuracy is bad.",
        "The inputs are not normalised.",
    ],
)
def test_a_complaint_is_heard_whole_though_it_has_a_not_in_it(text: str) -> None:
    assert heard(text).affirmed == text


def test_an_error_and_code_deny_nothing() -> None:
    text = "It crashes at once:\n    x = y  # no nan here\nRuntimeError: this is not the problem of no errors\n"
    start = text.index("RuntimeError")
    assert heard(text, ((start, len(text)),)).affirmed == text


def test_a_page_that_is_denied_is_not_offered_not_even_as_another_meaning() -> None:
    claim = "The network always predicts the same class for every picture."
    assert "class-imbalance" in [one.name for one in ask(claim).diagnoses]
    denied = ask(f"{claim} It is not a class imbalance problem.")
    assert denied.diagnoses[0].name == "class-collapse"
    assert "class-imbalance" not in [one.name for one in denied.diagnoses]


def test_what_was_done_was_not_forgotten() -> None:
    complaint = "I get different results each evaluation, dropout and batchnorm are in the net"
    assert "train-mode-in-evaluation" in [one.name for one in ask(complaint).diagnoses]
    assert "train-mode-in-evaluation" not in [
        one.name for one in ask(f"{complaint}. I do call model.eval at test time.").diagnoses
    ]
