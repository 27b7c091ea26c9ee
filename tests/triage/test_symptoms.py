"""A symptom told in anybody's words, without an error: the right page first or none, and what to run for its kind."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sleuth import handbook
from sleuth.live.expectations.sentence import read
from sleuth.triage import Answer, ask
from sleuth.triage.situations import Situation, _all, situation

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


TOLD, NONE = table("symptoms.toml"), table("no_symptoms.toml")
SYMPTOMS = [(text, row) for row in TOLD["symptom"].values() for text in row["texts"]]
# Of these kinds the words tell the cause itself.
SURE = {
    "a key of JAX": "key-reused",
    "softmax over one unit": "one-unit-softmax",
    "accumulates": "accumulation-without-division",
    "workers": "numpy-seed-in-workers",
    "padding": "padding-not-ignored",
}
_EXPECTED = re.compile(r'--expect "([^"]+)"')


def pages(answer: Answer) -> list[str]:
    return [one.name for one in answer.diagnoses]


def commands(answer: Answer) -> list[str]:
    return [step.command for step in answer.next]


@pytest.mark.parametrize(("text", "row"), SYMPTOMS, ids=[text[:40] for text, _ in SYMPTOMS])
def test_what_to_run_is_said_by_the_kind_of_symptom_and_no_wrong_page_is_first(text: str, row: dict[str, Any]) -> None:
    answer = ask(text)
    assert not answer.off_topic
    assert commands(answer)[0].startswith(tuple(row["commands"]))
    assert pages(answer)[:1] == [] or pages(answer)[0] in row["pages"]


@pytest.mark.parametrize(("kind", "page"), SURE.items())
def test_words_that_tell_the_cause_bring_its_page(kind: str, page: str) -> None:
    assert {ask(text).diagnoses[0].name for text in TOLD["symptom"][kind]["texts"]} == {page}


@pytest.mark.parametrize("row", NONE["denied"], ids=[row["text"][:40] for row in NONE["denied"]])
def test_what_is_denied_is_neither_offered_nor_looked_for(row: dict[str, Any]) -> None:
    answer = ask(row["text"])
    assert not set(pages(answer)) & set(row["pages"])
    assert not any(command.startswith(tuple(row.get("commands", ()))) for command in commands(answer))


@pytest.mark.parametrize("text", NONE["other"]["foreign"])
def test_such_words_about_something_else_get_an_honest_no(text: str) -> None:
    answer = ask(text)
    assert (answer.diagnoses, answer.next) == ((), ())


@pytest.mark.parametrize("text", NONE["other"]["wishes"])
def test_a_question_is_not_taken_for_a_symptom(text: str) -> None:
    answer = ask(text)
    assert answer.diagnoses == ()
    assert not any(command.startswith(("sleuth run", "sleuth compare", "sleuth dry")) for command in commands(answer))


def test_an_error_says_more_than_what_is_told_around_it() -> None:
    told = "Memory grows with every epoch of my training, and then:\n"
    error = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x1568 and 3136x10)\n"
    assert pages(ask(f"{told}\n{error}"))[0] == "linear-size-mismatch"


def test_whoever_asks_to_be_told_of_something_has_no_diagnosis() -> None:
    answer = ask("I'd like to have the run stopped if the GPU memory keeps growing.")
    assert answer.diagnoses == ()
    assert commands(answer)[0] == 'sleuth run --expect "memory does not grow" train.py'


def test_a_page_that_a_situation_rules_out_is_not_offered() -> None:
    text = "GPU memory goes up a bit every iteration until the card is full, batch size too large? CUDA out of memory"
    assert "does-not-fit-the-card" not in pages(ask(text))


def test_what_excludes_a_situation_may_stand_anywhere() -> None:
    text = "I call backward on 8 micro-batches and then step once. The updates are too big."
    found = situation(text)
    assert found is not None
    assert found.page == "accumulation-without-division"
    other = situation(f"{text} There is nothing else. I divide the loss by 8.")
    assert other is None or other.page is None


def test_wishes_come_first_and_pages_before_the_other_kinds() -> None:
    order = [(not one.wish, one.page is None) for one in _all()]
    assert order == sorted(order)


@pytest.mark.parametrize("one", _all(), ids=lambda one: one.name)
def test_a_situation_names_pages_there_are_and_sentences_that_are_understood(one: Situation) -> None:
    named = {*one.also, *one.ruled_out, *([one.page] if one.page else [])}
    assert named <= set(handbook.names())
    assert not any(re.search(r"<[a-z]+>", pattern) for pattern in (*one.needs, *one.unless))
    for item in one.next:
        for sentence in _EXPECTED.findall("" if isinstance(item, str) else item["run"]):
            assert read(sentence).claim is not None
