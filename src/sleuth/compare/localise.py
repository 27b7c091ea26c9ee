"""Where two runs part first: the value that is beyond the noise while all that it came from is within."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sleuth.compare.reference import Reference
from sleuth.compare.scores import SURE, Score


@dataclass(frozen=True, slots=True)
class Parting:
    """`node` is the first value known to be wrong; `region` all that was computed since the last one known to be right.

    `others` are values that may as well be the first: its score is so near the noise that it cannot be told."""

    node: str
    score: Score
    region: tuple[str, ...]
    others: tuple[str, ...] = ()


def partings(reference: Reference, scores: Mapping[str, Score], wrong: Collection[str]) -> list[Parting]:
    """From the outputs that are wrong, back to what is right; several where several faults are independent."""
    suspects = back_to_the_clean(reference, scores, wrong)
    parted = [name for name in suspects if name in wrong or (name in scores and scores[name].parted)]
    tainted: set[str] = set()
    found: list[Parting] = []
    for name in sorted(suspects, key=reference.order.__getitem__):
        if any(parent in tainted for parent in reference.parents(name)):
            tainted.add(name)
        elif name in parted:
            tainted.add(name)
            region = _region(reference, suspects, name)
            found.append(Parting(name, scores[name], region, _neighbours(reference, scores, name)))
    return found


def back_to_the_clean(reference: Reference, scores: Mapping[str, Score], wrong: Collection[str]) -> set[str]:
    """All that was computed on the way to a wrong output since the last values known to be right."""
    reached: set[str] = set()
    open_ends = list(wrong)
    while open_ends:
        name = open_ends.pop()
        if name in reached or (name not in wrong and _is_right(reference, scores, name)):
            continue
        reached.add(name)
        open_ends += reference.parents(name)
    return reached


def _is_right(reference: Reference, scores: Mapping[str, Score], name: str) -> bool:
    """An input is the same on both sides because it was given; what the target makes of it first is not seen in it."""
    return name in scores and not scores[name].parted and reference.value(name).op != "input"


def _region(reference: Reference, suspects: Collection[str], name: str) -> tuple[str, ...]:
    region: set[str] = set()
    open_ends = [name]
    while open_ends:
        here = open_ends.pop()
        if here in suspects and here not in region:
            region.add(here)
            open_ends += reference.parents(here)
    return tuple(sorted(region, key=reference.order.__getitem__))


def _neighbours(reference: Reference, scores: Mapping[str, Score], name: str) -> tuple[str, ...]:
    if scores[name].score >= SURE:
        return ()
    around = {*_nearest(reference, scores, name, up=True), *_nearest(reference, scores, name, up=False)}
    return tuple(sorted(around, key=reference.order.__getitem__))


def _nearest(reference: Reference, scores: Mapping[str, Score], name: str, up: bool) -> set[str]:
    step = reference.parents if up else reference.users
    found: set[str] = set()
    seen: set[str] = set()
    open_ends = step(name)
    while open_ends:
        here = open_ends.pop()
        if here in seen:
            continue
        seen.add(here)
        if here in scores and reference.value(here).op != "input":
            found.add(here)
        else:
            open_ends = [*open_ends, *step(here)]
    return found
