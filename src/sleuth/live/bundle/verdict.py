"""From what the variations gave to one word: data, weights, operation, compiled code only, or not reproducible."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link, Place, Report
from sleuth.live.bundle.format import Bundle
from sleuth.live.bundle.pack import source_digest
from sleuth.live.bundle.variations import (
    AS_IT_WAS,
    EAGERLY,
    FRESH_WEIGHTS,
    OTHER_NUMBERS,
    TRACED,
    Outcome,
    Variation,
    other_batch,
)

Word = Literal["data", "weights", "operation", "compiled code only", "not reproducible", "undecided"]
_SAMPLES_SHOWN = 8
# What a finding calls the sample that it traced the trouble to.
_CULPRIT = "sample index"


class CannotReplay(Exception):
    """The step could not be re-created; `str()` of it is the one line to show."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, the reason in a sentence, and everything that was tried. `named` is the finding, where the run itself
    could not name the operation and the replay can."""

    word: Word
    because: str
    played: tuple[tuple[Variation, Outcome], ...]
    named: Finding | None = None

    @property
    def reproduced(self) -> bool:
        return self.word != "not reproducible"


class _Played:
    """Plays each variation once, when it is first asked for."""

    def __init__(self, play: Callable[[Variation], Outcome]) -> None:
        self._play = play
        self.all: list[tuple[Variation, Outcome]] = []

    def __call__(self, variation: Variation) -> Outcome:
        outcome = self._play(variation)
        self.all.append((variation, outcome))
        return outcome


def decide(bundle: Bundle, play: Callable[[Variation], Outcome]) -> Verdict:
    """Play as many variations as it takes. Raises CannotReplay where not even the step itself can be played."""
    played = _Played(play)
    first = played(AS_IT_WAS)
    if not first.known:
        raise CannotReplay(first.said if first.how == "unreached" else f"the step raised another error: {first.said}")
    word, because = _word(bundle, first, played)
    named = None
    if word not in ("not reproducible", "compiled code only") and _has_no_name(bundle):
        named = play(TRACED).finding
    return Verdict(word, because, tuple(played.all), named)


def _has_no_name(bundle: Bundle) -> bool:
    unnamed = bundle.finding is None or bundle.finding.diagnosis == "non-finite-loss"
    return unnamed and bundle.content["symptom"]["kind"] != "crash"


def _word(bundle: Bundle, first: Outcome, played: _Played) -> tuple[Word, str]:
    if first.how == "finite":
        return "not reproducible", "the re-created step is finite: " + _what_may_differ(bundle)
    if first.compiled and played(EAGERLY).how == "finite":
        return "compiled code only", "without torch.compile the very same step is finite"
    batch = played(other_batch(bundle)).how
    # Without recorded weights the step was played with fresh ones already.
    weights = played(FRESH_WEIGHTS).how if bundle.content["weights"] else "bad"
    return _of_batch_and_weights(bundle, batch, weights, played)


def _of_batch_and_weights(bundle: Bundle, batch: str, weights: str, played: _Played) -> tuple[Word, str]:
    dealt = bundle.content["begins"] == "deal"
    this, other = ("this batch", "another batch") if dealt else ("what this step drew at random", "another draw")
    match batch, weights:
        case "finite", "bad":
            return "data", f"{this} fails with other weights too, and {other} does not fail with these"
        case "bad", "finite":
            return "weights", f"these weights fail with {other} too; those the program starts from do not"
        case "bad", "bad":
            if dealt and played(OTHER_NUMBERS).how == "finite":
                return "operation", "it fails with any batch and weights, but only with the random numbers of this step"
            return "operation", f"it fails with {other} and with other weights: neither of them is to blame"
        case "finite", "finite":
            return "operation", f"only {this} and these weights together leave the range of the operation"
        case _, "finite":
            return "weights", f"the weights the program starts from do not fail; {other} could not be tried"
        case "finite", _:
            return "data", f"{other} does not fail where {this} does; other weights could not be tried"
        case _, "bad":
            return "undecided", f"it fails with other weights too, but {other} could not be tried"
        case "bad", _:
            return "undecided", f"it fails with {other} too, but other weights could not be tried"
    return "undecided", f"it fails again, but neither {other} nor other weights could be tried"


def _what_may_differ(bundle: Bundle) -> str:
    content = bundle.content
    if not content["weights"]:
        return "its weights were too large for the bundle, so the program's first ones were used"
    if content["begins"] != "deal":
        return "the program makes its batches without a DataLoader, so they are not in the bundle (try --from-start)"
    if content["missing"]:
        return "parts of it are not in the bundle"
    return "what made it fail is in neither batch, weights nor random numbers"


def report(bundle: Bundle, verdict: Verdict, folder: Path, program: str) -> Report:
    """The finding of the run, with the verdict as its first evidence. Not reproduced, it is a note."""
    found = _seen_from_here(verdict.named or bundle.finding or _without_a_finding(bundle), folder)
    changed = changed_sources(bundle, folder)
    evidence = [Evidence("verdict", verdict.word), Evidence("because", verdict.because)]
    evidence += [Evidence("changed since", changed)] if changed else []
    evidence += [Evidence("not in the bundle", tuple(bundle.content["missing"]))] if bundle.content["missing"] else []
    links = [Link(f"replayed {variation.name}: {outcome.said}") for variation, outcome in verdict.played]
    found = replace(
        found,
        severity=found.severity if verdict.reproduced else "note",
        evidence=(*evidence, *found.evidence),
        chain=(*found.chain, *links, Link(f"{verdict.word}: {verdict.because}")),
        fixes=(*_fixes(bundle, verdict), *found.fixes),
    )
    return Report("replay", program, (found,), exit=int(verdict.reproduced))


def changed_sources(bundle: Bundle, folder: Path) -> tuple[str, ...]:
    """The files of the program that are not what they were."""
    told = bundle.content["sources"].items()
    return tuple(path for path, digest in told if source_digest(os.path.join(folder, path)) != digest)


def _without_a_finding(bundle: Bundle) -> Finding:
    """For a program that ended before Sleuth had found anything."""
    symptom = bundle.content["symptom"]
    crash = symptom["kind"] == "crash"
    return handbook.finding(
        "exception-in-a-step" if crash else "non-finite-loss",
        title=f"a training step raises {symptom['said']}" if crash else symptom["said"],
        place=_place(symptom["place"]),
        step=bundle.content["step"],
        chain=(Link(symptom["said"], _place(symptom["place"])),),
    )


def _place(told: dict[str, Any] | None) -> Place | None:
    return None if told is None else Place(told["path"], told["line"], code=told["code"])


def _fixes(bundle: Bundle, verdict: Verdict) -> tuple[Fix, ...]:
    if verdict.word == "data":
        return (Fix(f"look at the samples of this batch{_which(bundle)}"),)
    if verdict.word == "compiled code only":
        return (Fix("train without torch.compile for now, and report the bundle to whoever makes the backend"),)
    return ()


def _which(bundle: Bundle) -> str:
    """Their numbers in the data set, that of the one to blame first where it is known."""
    samples = _samples(bundle)
    evidence = bundle.finding.evidence if bundle.finding is not None else ()
    culprit = next((one.value for one in evidence if one.name == _CULPRIT), None)
    if culprit in samples:
        others = [sample for sample in samples if sample != culprit]
        return f", number {culprit} of the data set first" + (f"; with it came {_listed(others)}" if others else "")
    return f": numbers {_listed(samples)} of the data set" if samples else ""


def _listed(samples: list[Any]) -> str:
    # To leave out a single one would save nothing.
    shown = samples if len(samples) <= _SAMPLES_SHOWN + 1 else samples[:_SAMPLES_SHOWN]
    return ", ".join(map(str, shown)) + (f" and {len(samples) - len(shown)} more" if len(samples) > len(shown) else "")


def _samples(bundle: Bundle) -> list[Any]:
    loaders = bundle.content["loaders"]
    told = loaders[0]["batches"][0]["samples"] if loaders and loaders[0]["batches"] else None
    held = told.get("list", []) if isinstance(told, dict) else []
    return [sample for sample in held if isinstance(sample, int | str)]


def _seen_from_here(found: Finding, folder: Path) -> Finding:
    """Paths in the finding start where the program ran; the report's start where the command is run."""
    way = os.path.relpath(folder)
    if way == os.curdir:
        return found

    def moved(place: Place | None) -> Place | None:
        if place is None or place.path.startswith("<"):
            return place
        return replace(place, path=os.path.normpath(os.path.join(way, place.path)))

    def moved_fix(fix: Fix) -> Fix:
        paths = [os.path.normpath(os.path.join(way, edit.path)) for edit in fix.edits]
        return replace(fix, edits=tuple(replace(edit, path=p) for edit, p in zip(fix.edits, paths, strict=True)))

    chain = tuple(replace(link, place=moved(link.place)) for link in found.chain)
    return replace(found, place=moved(found.place), chain=chain, fixes=tuple(map(moved_fix, found.fixes)))
