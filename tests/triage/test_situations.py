"""Where no diagnosis fits, the kind of symptom says what to run, in whatever words and order it is told."""

from __future__ import annotations

import pytest

from sleuth.cli import COMMANDS
from sleuth.live.expectations.sentence import read
from sleuth.triage import ask
from sleuth.triage.situations import _all, situation


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Same weights in Flax and PyTorch, but the logits of the second deviate.", "differs-elsewhere"),
        ("Inside our mobile app the segmentation is far worse.", "differs-elsewhere"),
        ("Whenever I resume, the loss jumps back up.", "differs-after-loading"),
        ("Since we upgraded to torch 2.4 the accuracy is lower.", "differs-after-upgrade"),
        ("nvidia-smi shows more and more memory, after an hour it is full.", "memory-grows"),
        ("With FSDP the job waits in the first all_reduce.", "ranks-do-not-agree"),
        ("The first batch never comes, it just hangs.", "hangs"),
        ("One epoch takes hours.", "slow"),
        ("The same image gives another result in every run.", "results-vary"),
    ],
)
def test_a_situation_is_known_by_what_is_told_together(text: str, name: str) -> None:
    found = situation(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "text",
    ["How do I export a Keras model to TFLite?", "What does a checkpoint hold?", "Which optimizer uses less memory?"],
)
def test_a_question_is_no_situation(text: str) -> None:
    assert situation(text) is None


def test_what_is_denied_is_no_situation() -> None:
    assert "memory" not in str(ask("Memory does not grow, but the loss of my network is stuck at 2.3").next)


def test_memory_that_grows_is_run_with_an_expectation_that_sleuth_can_read() -> None:
    steps = ask("The RAM usage of my training goes up with every epoch").next
    assert steps[0].command == 'sleuth run --expect "memory does not grow" train.py'
    assert read("memory does not grow").claim is not None


def test_ranks_that_were_started_by_a_launcher_are_started_by_it_again() -> None:
    text = "`torchrun --nproc_per_node=8 fit.py` with DDP: weights of the model drift apart between ranks."
    assert "sleuth run torchrun --nproc_per_node=8 fit.py" in [step.command for step in ask(text).next]


def test_every_command_advised_is_one_there_is() -> None:
    for one in _all():
        for item in one.next:
            words = (item if isinstance(item, str) else item["run"]).split()
            assert words[0] not in ("sleuth",) or words[1] in COMMANDS
            assert not isinstance(item, str) or item in COMMANDS
