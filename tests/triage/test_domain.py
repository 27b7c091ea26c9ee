"""A text about something else than deep learning is told as such, and not taken for one of the kinds."""

from __future__ import annotations

import pytest

from sleuth.triage import ask
from sleuth.triage.domain import is_foreign

FOREIGN = [
    "[error] 25#25: *1 upstream prematurely closed connection, upstream: uwsgi://unix:/run/app/socket, server: nginx",
    "Beat three eggs with the sugar, fold in flour and butter, and bake until golden.",
    "How do I center a button with flexbox in css?",
    'Exception in thread "main" java.lang.NullPointerException\n\tat shop.Cart.total(Cart.java:42)',
    "Der Geschirrspüler zeigt einen Fehler an und pumpt das Wasser nicht mehr ab.",
    "main : Bootstrapping Spring Data repositories in DEFAULT mode.",
    "hello",
    "no_such_file",
    "What is the best pizza in Rome?",
    "Is a t-test fine when the two samples have unequal variance?",
    "My card stutters in the new game, fps drops to 20 when the map loads, drivers are new",
    "How do neurons in the visual cortex encode orientation?",
    "What loss of blood is dangerous for an adult?",
    "Which model of Toyota has the lowest fuel consumption?",
]
OURS = [
    "How can I run my model on Android?",
    "Shapes must be equal rank, but are 2 and 1",
    "ValueError: setting an array element with a sequence",
    "How to save a list of arrays to a csv file in Python",
    "PRelue is not supperted with mmdnn?",
    "django app that loads a keras model is slow",
    "loss变为nan，怎么办",
    "it does not learn",
    "gpu memory grows",
    "the converted model is worse",
    "results differ after I load the checkpoint",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_no_kind_and_no_diagnosis_for_another_world(text: str) -> None:
    assert is_foreign(text)
    answer = ask(text)
    assert (answer.kind, answer.diagnoses, answer.next) == (None, (), ())
    assert sum(answer.probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize("text", OURS)
def test_what_may_be_ours_is_answered(text: str) -> None:
    assert not is_foreign(text)


def test_a_crash_of_another_program_is_a_crash_without_a_diagnosis() -> None:
    frames = 'Traceback (most recent call last):\n  File "/srv/shop/views.py", line 31, in checkout\n'
    answer = ask(f"{frames}    return redis.get(key)\nZeroDivisionError: division by zero\n")
    assert answer.kind == "program-crash"
    assert answer.diagnoses == ()


def test_an_error_that_is_known_counts_whatever_stands_around_it() -> None:
    assert ask("uwsgi: CUDA out of memory. Tried to allocate 20.00 MiB").kind == "program-crash"


def test_a_complaint_that_sounds_like_a_training_needs_less_of_its_words() -> None:
    text = "memory goes up until the process is killed"
    assert is_foreign(text)
    assert not is_foreign(text, complains=True)
    assert not ask(text).off_topic
