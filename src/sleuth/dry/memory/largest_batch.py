"""The largest batch that fits a card, searched with fake tensors: two sizes give a line, a third verifies it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sleuth.amounts import in_bytes
from sleuth.dry.journal import Outcome
from sleuth.dry.memory import estimate
from sleuth.dry.scenario import Scenario

# Memory grows all but evenly with the batch: more guesses than this only polish the last per cent.
_MOST_GUESSES = 7
# A small batch may hide behind what the optimiser needs, and then tells little of a large one.
_LONGEST_STRIDE = 8
# As close to the full card as is worth another rehearsal.
_CLOSE = 0.95

Run = Callable[[Scenario], Outcome]


@dataclass(frozen=True, slots=True)
class Answer:
    """`batch` is None where there is none; `sentence` says it to a person."""

    batch: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class _Probe:
    """A batch size that was rehearsed, and the bytes of tensors on the fullest card."""

    batch: int
    peak: int


def largest_batch(scenario: Scenario, plain: Outcome | None = None, run: Run | None = None) -> Answer:
    """Rehearse the program with other batch sizes until the card is full. `plain`: what its own size came to."""
    if run is not None:
        return _searched(replace(scenario, numbers="fake", corner=""), plain, run)
    from sleuth.dry.rehearsal import hold

    with tempfile.TemporaryDirectory(prefix="sleuth-dry-", ignore_cleanup_errors=True) as folder:
        return largest_batch(scenario, plain, lambda scene: hold(scene, Path(folder)))


def _searched(scenario: Scenario, plain: Outcome | None, run: Run) -> Answer:
    own = _probe(plain or run(replace(scenario, batch=0)))
    if own is None:
        return Answer(None, "largest batch: the program trained nothing on a card, so there is none to search")
    twice = _probe(run(replace(scenario, batch=2 * own.batch)))
    if twice is None or twice.batch == own.batch:
        return Answer(None, "largest batch: it is not dealt by a DataLoader, so it cannot be changed from outside")
    best = _refined([own, twice], scenario, run)
    return _answer(best, own, scenario.card_bytes)


def _refined(probes: list[_Probe], scenario: Scenario, run: Run) -> _Probe | None:
    """The largest that fits, verified; None where not even a batch of 1 does."""
    room = estimate.safe_room(scenario.card_bytes)
    too_many: list[int] = []
    for _ in range(_MOST_GUESSES):
        fits = _largest_fitting(probes, room)
        if fits is not None and fits.peak >= _CLOSE * room:
            return fits
        too_big = min([*too_many, *(one.batch for one in probes if one.peak > room)], default=None)
        guess = _guess(probes, fits, too_big, room)
        if guess is None:
            return fits
        probe = _probe(run(replace(scenario, batch=guess)))
        if probe is not None and probe.batch == guess:
            probes.append(probe)
        else:
            # More than can even be rehearsed here in the time there is.
            too_many.append(guess)
    return _largest_fitting(probes, room)


def _largest_fitting(probes: list[_Probe], room: int) -> _Probe | None:
    return max((one for one in probes if one.peak <= room), key=lambda one: one.batch, default=None)


def _guess(probes: list[_Probe], fits: _Probe | None, too_big: int | None, room: int) -> int | None:
    """Where the line through the two nearest probes meets the room there is, between what fits and what does not."""
    low = 1 if fits is None else fits.batch + 1
    high = _LONGEST_STRIDE * max(one.batch for one in probes) if too_big is None else too_big - 1
    if high < low:
        return None
    first, second = sorted(sorted(probes, key=lambda one: abs(one.peak - room))[:2], key=lambda one: one.batch)
    slope = (second.peak - first.peak) / (second.batch - first.batch)
    guess = int(first.batch + (room - first.peak) / slope) if slope > 0 else high
    # A guess beyond what is known not to fit is worth nothing; the middle is.
    return max(low, guess) if guess <= high else high if too_big is None else (low + high) // 2


def _probe(outcome: Outcome) -> _Probe | None:
    memory = outcome.notes.get("memory")
    if memory is None or not memory["steps"] or memory["batch"] is None:
        return None
    peaks = [about["peak"] for device, about in memory["devices"].items() if device != "cpu"]
    return _Probe(memory["batch"], max(peaks)) if peaks else None


def _answer(best: _Probe | None, own: _Probe, card: int) -> Answer:
    if best is None:
        return Answer(None, f"largest batch: not even a batch of 1 is sure to fit a card of {in_bytes(card)}")
    need = estimate.need(best.peak)
    # Where much room is left, larger ones took longer to rehearse than there was time.
    least = "at least " if best.peak < _CLOSE / 2 * estimate.safe_room(card) else ""
    return Answer(
        best.batch,
        f"largest batch: {least}{best.batch:,} fits a card of {in_bytes(card)} "
        f"(it needs {in_bytes(need.least)} to {in_bytes(need.most)}); the program's own is {own.batch:,}",
    )
