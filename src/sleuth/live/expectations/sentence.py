"""From the sentence a person would say to a claim: "the gradient norm of every layer stays below 10"."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass

from sleuth.live.expectations.claims import (
    BeatsChance,
    Bounded,
    Changes,
    Claim,
    Reaches,
    Steady,
    Subject,
    Unchanged,
)

EXAMPLES = (
    "the gradient norm of every layer stays below 10",
    "the gradient norm of encoder stays below 1 after 100 steps",
    "the loss falls by half within 200 steps",
    "the loss falls below 0.1 within 1000 steps",
    "the loss stays below 5",
    "the validation loss stays below 2 after 500 steps",
    "the weights of encoder do not change",
    "all weights change within 50 steps",
    "the update ratio of every layer stays within [0, 0.1]",
    "the learning rate stays within [1e-5, 1e-3]",
    "accuracy beats chance within 200 steps",
    "accuracy reaches 90% within 500 steps",
    "no tensor named logits leaves [-50, 50]",
    "memory does not grow",
    "the step time stays below 0.5 s after 10 steps",
)

_NUMBER = r"[-+]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?%?"
_LAYER = r"(?P<layer>every layer|each layer|all layers|[\w.*?\[\]-]+)"
_VALUES = {
    "training loss": "loss",
    "validation loss": "evaluation loss",
    "evaluation loss": "evaluation loss",
    "loss": "loss",
    "gradient norm": "gradient norm",
    "weight norm": "weight norm",
    "update ratio": "update ratio",
    "learning rate": "learning rate",
    "step time": "step seconds",
    "data time": "data seconds",
    "accuracy on this batch": "accuracy on this batch",
    "accuracy": "accuracy",
    "memory": "memory bytes",
}
_SUBJECT = rf"(?:the )?(?P<value>{'|'.join(_VALUES)})(?: of {_LAYER})?"
_FRACTIONS = {"half": 0.5, "a third": 1 / 3, "two thirds": 2 / 3, "a quarter": 0.25, "a tenth": 0.1}


class CannotExpect(ValueError):
    """An expectation that nothing could check."""


class NotUnderstood(CannotExpect):
    """A sentence that is none of the forms."""

    def __init__(self, sentence: str) -> None:
        close = difflib.get_close_matches(sentence.lower(), EXAMPLES, n=1, cutoff=0.3)
        example = close[0] if close else EXAMPLES[0]
        super().__init__(f"cannot read {sentence!r} as an expectation; it may read like {example!r}")


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence, understood. None where it does not say."""

    claim: Claim
    every: int | None = None
    warmup: int | None = None


def read(sentence: str, tolerance: float | None = None) -> Reading:
    """Raises NotUnderstood."""
    text = " ".join(sentence.split()).rstrip(".")
    text, every = _cut_off(_EVERY, text)
    text, warmup = _cut_off(_AFTER, text)
    claim = _claim(text, tolerance)
    if claim is None:
        raise NotUnderstood(sentence)
    return Reading(claim, every, warmup)


def _cut_off(pattern: str, text: str) -> tuple[str, int | None]:
    """A sentence without its end, and the number of steps that the end speaks of."""
    found = re.search(pattern, text, re.IGNORECASE)
    return (text[: found.start()], _count(found[1])) if found else (text, None)


_EVERY = r",? (?:checked )?every (\d[\d_,]*) steps$"
_AFTER = r",? after (?:the first |a warm-up of )?(\d[\d_,]*) steps$"


def _claim(text: str, tolerance: float | None) -> Claim | None:
    for pattern, build in _FORMS:
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found:
            return build(found, tolerance)
    return None


def _subject(found: re.Match[str]) -> Subject:
    value = _VALUES[found["value"].lower()]
    layer = found["layer"]
    if layer is None:
        return Subject(value)
    return Subject(value, "*" if layer.lower() in ("every layer", "each layer", "all layers") else layer)


def _below(found: re.Match[str], tolerance: float | None) -> Claim:
    return Bounded(_subject(found), high=_number(found["number"]), tolerance=tolerance or 0.0)


def _above(found: re.Match[str], tolerance: float | None) -> Claim:
    return Bounded(_subject(found), low=_number(found["number"]), tolerance=tolerance or 0.0)


def _within(found: re.Match[str], tolerance: float | None) -> Claim:
    low, high = _number(found["low"]), _number(found["high"])
    return Bounded(_subject(found), low, high, tolerance or 0.0)


def _finite(found: re.Match[str], tolerance: float | None) -> Claim:
    return Bounded(_subject(found), -1.8e308, 1.8e308)


def _tensor(found: re.Match[str], tolerance: float | None) -> Claim:
    low, high = _number(found["low"]), _number(found["high"])
    return Bounded(Subject("tensor", found["name"]), low, high, tolerance or 0.0)


def _falls_by(found: re.Match[str], tolerance: float | None) -> Claim:
    amount = found["amount"].lower()
    if amount.startswith("a factor of "):
        share = 1 / _number(amount.removeprefix("a factor of "))
    else:
        share = 1 - (_FRACTIONS[amount] if amount in _FRACTIONS else _number(amount))
    return Reaches(_subject(found), _count(found["steps"]), share=share, tolerance=tolerance or 0.0)


def _falls_below(found: re.Match[str], tolerance: float | None) -> Claim:
    return Reaches(_subject(found), _count(found["steps"]), level=_number(found["number"]), tolerance=tolerance or 0.0)


def _rises_above(found: re.Match[str], tolerance: float | None) -> Claim:
    level, slack = _number(found["number"]), tolerance or 0.0
    return Reaches(_subject(found), _count(found["steps"]), level=level, upwards=True, tolerance=slack)


def _steady(found: re.Match[str], tolerance: float | None) -> Claim:
    by = found["number"]
    allowed = tolerance if tolerance is not None else _number(by) if by else 0.1
    return Steady(_subject(found), allowed)


def _chance(found: re.Match[str], tolerance: float | None) -> Claim:
    return BeatsChance(_subject(found), _count(found["steps"]) if found["steps"] else 0, tolerance or 0.0)


def _layer_of_weights(found: re.Match[str]) -> Subject:
    layer = found["owner"] or found["layer"]
    everything = layer is None or layer.lower() in ("every layer", "each layer", "all layers")
    return Subject("weight checksum", "*" if everything else layer)


def _unchanged(found: re.Match[str], tolerance: float | None) -> Claim:
    return Unchanged(_layer_of_weights(found))


def _changes(found: re.Match[str], tolerance: float | None) -> Claim:
    return Changes(_layer_of_weights(found), _count(found["steps"]) if found["steps"] else 0)


_UNIT = r"(?: ?(?:s|seconds|MB|GB))?"
_ONE = rf"(?P<number>{_NUMBER}{_UNIT})"
_RANGE = rf"(?:\[ ?(?P<low>{_NUMBER}), ?(?P<high>{_NUMBER}) ?\])"
_STEPS = r"within (?P<steps>\d[\d_,]*) steps"
_WEIGHTS = rf"(?:all weights|the weights of {_LAYER}|(?:the )?(?P<owner>[\w.*-]+)'s weights)"
_AMOUNT = rf"(?P<amount>{'|'.join(_FRACTIONS)}|a factor of {_NUMBER}|{_NUMBER})"

_FORMS = (
    (rf"{_SUBJECT} (?:stays|is|remains) (?:always )?(?:below|under|at most) {_ONE}", _below),
    (rf"{_SUBJECT} (?:never exceeds|never rises above|is never above) {_ONE}", _below),
    (rf"{_SUBJECT} (?:stays|is|remains) (?:always )?(?:above|over|at least) {_ONE}", _above),
    (rf"{_SUBJECT} (?:never falls below|is never below) {_ONE}", _above),
    (rf"{_SUBJECT} (?:stays|is|remains) (?:within|in|between) {_RANGE}", _within),
    (rf"{_SUBJECT} never leaves {_RANGE}", _within),
    (rf"{_SUBJECT} (?:stays|is|remains) finite", _finite),
    (rf"no tensor named (?P<name>\w+) leaves {_RANGE}", _tensor),
    (rf"(?:the |every )?tensor (?:named )?(?P<name>\w+) (?:stays within|never leaves) {_RANGE}", _tensor),
    (rf"{_SUBJECT} (?:falls|drops) by {_AMOUNT} {_STEPS}", _falls_by),
    (rf"{_SUBJECT} (?:falls|drops) (?:below|under|to) {_ONE} {_STEPS}", _falls_below),
    (rf"{_SUBJECT} (?:reaches|rises above|gets above) {_ONE} {_STEPS}", _rises_above),
    (rf"{_SUBJECT} (?:does not|never) (?:grow|grows|rise|rises|increase|increases)(?: by more than {_ONE})?", _steady),
    (rf"{_SUBJECT} beats chance(?: {_STEPS})?", _chance),
    (rf"{_WEIGHTS} (?:do not|never) change", _unchanged),
    (rf"{_WEIGHTS} change(?: {_STEPS})?", _changes),
)


def _number(text: str) -> float:
    text = text.strip().lower()
    for unit, factor in (("seconds", 1.0), ("mb", 2.0**20), ("gb", 2.0**30), ("s", 1.0), ("%", 0.01)):
        if text.endswith(unit):
            return _number(text.removesuffix(unit)) * factor
    value = float(text.replace("_", "").replace(",", ""))
    return value if math.isfinite(value) else math.inf


def _count(text: str) -> int:
    return int(text.replace("_", "").replace(",", ""))
