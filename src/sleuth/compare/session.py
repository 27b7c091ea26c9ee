"""A whole comparison: every sample's outputs first, then a close look at the one on which the two differ most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low

import numpy as np
import torch

from sleuth.compare import fit
from sleuth.compare.comparison import Comparison, compare_on, in_layout
from sleuth.compare.inputs import Sample
from sleuth.compare.precision import in_format, is_full, output_noise
from sleuth.compare.reference import Reference
from sleuth.compare.scores import LIMIT, SURE, Score, score
from sleuth.compare.serial_sums import noise_of_serial_sums
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Array, Batch, gives_numbers

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One sample, and how far the target's outputs are from the truth on it; None where the reference itself fails."""

    sample: Sample
    scores: tuple[Score, ...] | None
    why: str = ""

    @property
    def worst(self) -> float:
        return max((one.score for one in self.scores or ()), default=-1.0)


@dataclass(slots=True)
class Session:
    """What was tried, and the close look at the worst."""

    comparison: Comparison
    tried: list[Tried] = field(default_factory=list)
    # The target takes the part of the reference where only it can be run in float64.
    swapped: bool = False

    @property
    def same(self) -> bool:
        return self.comparison.same and not any(one.worst > LIMIT for one in self.tried)

    @property
    def worst(self) -> Tried:
        return max(self.tried, key=lambda one: one.worst)


def compare_sides(
    reference: Side, target: Side, samples: Sequence[Sample], progress: Progress = lambda done, total: None
) -> Session:
    """The samples are in the reference's order and layout."""
    if not samples:
        raise CannotCompare("there is no input to compare on")
    tried: list[Tried] = []
    if len(samples) > 1:
        for number, sample in enumerate(samples):
            progress(number, len(samples) + 1)
            tried.append(_tried(_graph(reference, sample), reference, target, sample))
    usual = _usual_noise(tried)
    tried = [_with_noise(one, usual) for one in tried]
    worst = max(tried, key=lambda one: one.worst, default=None)
    if worst is not None and _barely(worst, target):
        usual = _doubted(reference, worst.sample, usual)
        tried = [_with_noise(one, usual) for one in tried]
    progress(len(samples), len(samples) + 1)
    if not tried:
        comparison = compare_on(reference, target, samples[0].batch, usual)
        if not any(np.isfinite(one).any() for one in comparison.truth):
            raise CannotCompare(f"{reference.title} has no finite number for the input “{samples[0].label}”")
        return Session(comparison, [Tried(samples[0], tuple(comparison.outputs))])
    return _on_the_worst(reference, target, tried, usual)


def _on_the_worst(reference: Side, target: Side, tried: list[Tried], usual: Sequence[float]) -> Session:
    """The close look also sees where rounding alone may do so much; then the next worst is looked at."""
    while True:
        place = max(range(len(tried)), key=lambda one: tried[one].worst)
        comparison = compare_on(reference, target, tried[place].sample.batch, usual)
        if tried[place].worst <= LIMIT:
            return Session(comparison, tried)
        if not comparison.same:
            return Session(_better_explained(comparison, tried, usual), tried)
        tried[place] = replace(tried[place], scores=tuple(comparison.outputs))


def _better_explained(comparison: Comparison, tried: Sequence[Tried], usual: Sequence[float]) -> Comparison:
    """The worst input may be one at an edge, where several causes do the same or a cause is lost in its own noise."""
    first = tried[0]
    if not _unexplained(comparison) or comparison.batch is first.sample.batch or first.worst <= SURE:
        return comparison
    other = compare_on(comparison.reference, comparison.target, first.sample.batch, usual)
    return other if other.troubles and _unexplained(other) < _unexplained(comparison) else comparison


def _unexplained(comparison: Comparison) -> int:
    return sum(one.explanation is None for one in comparison.troubles)


def disagreement(reference: Side, target: Side) -> Callable[[Batch], float]:
    """How far apart the two are on a batch: what a search for the worst one makes as large as it can."""

    def apart(batch: Batch) -> float:
        sample = Sample("", batch)
        return _tried(_graph(reference, sample), reference, target, sample).worst

    return apart


def _graph(reference: Side, sample: Sample) -> Reference:
    graph = reference.reference(sample.batch)
    if graph is None:
        raise CannotCompare(f"{reference.title} cannot be run in float64")
    return graph


def _tried(graph: Reference, reference: Side, target: Side, sample: Sample) -> Tried:
    try:
        truth = graph.run(sample.batch, torch.float64)
        single = in_format(graph, sample.batch, target.precision, target.quantised, ()).outputs
    except (RuntimeError, IndexError, ValueError) as problem:
        return Tried(sample, None, f"{reference.title} cannot take it: {_first_line(problem)}")
    if not all(map(_are_numbers, truth, single if is_full(target.precision) else truth)):
        return Tried(sample, None, f"{reference.title} itself gives numbers that are not finite")
    answers = target.run(fit.to(target, reference, sample.batch))
    scores = tuple(_scored(*three, target.precision) for three in zip(truth, single, answers, strict=False))
    return Tried(sample, scores)


def _are_numbers(truth: Array, single: Array) -> bool:
    """An infinity that the truth has too is meant; one that float32 alone has is an overflow."""
    return gives_numbers(single) and bool((np.isinf(single) == np.isinf(truth)).all())


def _scored(truth: Array, single: Array, answer: Array, precision: str) -> Score:
    return score(truth, output_noise(truth, single, precision), in_layout(answer, truth))


def _usual_noise(tried: Sequence[Tried]) -> list[float]:
    """On one sample float32 may be exact by luck: its noise is taken to be at least what it is on most."""
    measured = [one.scores for one in tried if one.scores is not None]
    outputs = range(len(measured[0]) if measured else 0)
    return [median_low(scores[place].noise for scores in measured) for place in outputs]


def _barely(worst: Tried, target: Side) -> bool:
    """So near the limit that it may be another way to sum, which a search for the worst input finds out."""
    return is_full(target.precision) and LIMIT < worst.worst < SURE


def _doubted(reference: Side, sample: Sample, usual: Sequence[float]) -> list[float]:
    return list(map(max, usual, noise_of_serial_sums(_graph(reference, sample), sample.batch)))


def _with_noise(one: Tried, usual: Sequence[float]) -> Tried:
    return one if one.scores is None else replace(one, scores=tuple(map(_at_least, one.scores, usual)))


def _at_least(one: Score, noise: float) -> Score:
    return one if one.noise >= noise else replace(one, noise=noise, score=one.score * one.noise / noise)


def _first_line(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]
