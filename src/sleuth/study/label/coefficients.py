"""Agreement beyond chance: Cohen's kappa, Fleiss' kappa and Krippendorff's alpha for labels without order.

All three are computed from sums over units, so that a bootstrap over units is a few matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

# What each rater said of one unit: a number per label, and nothing for a rater who did not see it.
Unit = Sequence["int | None"]
Array = Any

RESAMPLES = 2000
# So that the resamples of thousands of units fit in a few megabytes.
_CHUNK = 100


class CannotCompare(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Estimate:
    """A coefficient and its interval. No value: all said the same one label, and chance alone would agree as well."""

    value: float | None
    low: float | None
    high: float | None
    units: int


@dataclass(frozen=True)
class Bootstrap:
    """How an interval is drawn: resampling units with replacement, percentiles of what comes out."""

    seed: int = 0
    confidence: float = 0.95
    resamples: int = RESAMPLES


def cohen(units: Sequence[Unit], confidence: float = 0.95) -> Estimate:
    """Two raters; units that only one saw are left out. The large-sample interval of Fleiss, Cohen and Everitt."""
    table = _cross_table(units)
    count = int(table.sum())
    if count == 0:
        return Estimate(None, None, None, 0)
    shares = table / count
    first, second = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(first @ second)
    if math.isclose(expected, 1.0):
        return Estimate(None, None, None, count)
    value = (observed - expected) / (1 - expected)
    margin = NormalDist().inv_cdf(0.5 + confidence / 2) * _cohen_error(shares, observed, expected, count)
    return Estimate(value, max(-1.0, value - margin), min(1.0, value + margin), count)


def _cohen_error(shares: Array, observed: float, expected: float, count: int) -> float:
    """The standard error of kappa (Fleiss, Cohen and Everitt, 1969, equation 13)."""
    first, second = shares.sum(axis=1), shares.sum(axis=0)
    on = np.diag(shares) @ ((1 - expected) - (first + second) * (1 - observed)) ** 2
    # A cell (i, j) off the diagonal is weighted by the second rater's share of i and the first rater's share of j.
    weights = (second[:, None] + first[None, :]) ** 2
    off = (1 - observed) ** 2 * float((shares * weights).sum() - np.diag(shares) @ np.diag(weights))
    last = (observed * expected - 2 * expected + observed) ** 2
    return math.sqrt(max(0.0, float(on) + off - last) / count) / (1 - expected) ** 2


def cohen_bootstrapped(units: Sequence[Unit], bootstrap: Bootstrap | None = None) -> Estimate:
    """The same kappa with an interval that needs no large sample."""
    both = [unit for unit in units if None not in unit[:2]]
    size = _labels_of(both)
    first, second = (np.eye(size)[np.array([unit[rater] for unit in both], dtype=int)] for rater in (0, 1))
    agree = (first * second).sum(axis=1, keepdims=True)

    def of(weights: Array) -> Array:
        count = weights.sum(axis=1)
        expected = ((weights @ first) * (weights @ second)).sum(axis=1) / count**2
        return _beyond_chance((weights @ agree)[:, 0] / count, expected)

    return _estimate(of, len(both), bootstrap or Bootstrap())


def fleiss(units: Sequence[Unit], bootstrap: Bootstrap | None = None) -> Estimate:
    """Any raters, the same number of them for every unit."""
    counts = _counts(units)
    raters = counts.sum(axis=1)
    if len(counts) and (raters.min() != raters.max() or raters[0] < 2):
        raise CannotCompare("Fleiss' kappa needs the same number of raters, two or more, for every unit")
    per_unit = len(counts) and float(raters[0])
    agree = (((counts**2).sum(axis=1) - per_unit) / max(1.0, per_unit * (per_unit - 1)))[:, None]

    def of(weights: Array) -> Array:
        count = weights.sum(axis=1)
        shares = (weights @ counts) / (count * per_unit)[:, None]
        return _beyond_chance((weights @ agree)[:, 0] / count, (shares**2).sum(axis=1))

    return _estimate(of, len(counts), bootstrap or Bootstrap())


def krippendorff(units: Sequence[Unit], bootstrap: Bootstrap | None = None) -> Estimate:
    """Any raters, any of them missing anywhere: units that fewer than two saw say nothing and are left out."""
    counts, raters = _comparable(units)
    differ = ((counts * (raters - counts)) / (raters - 1)).sum(axis=1)

    def of(weights: Array) -> Array:
        totals = weights @ counts
        said = totals.sum(axis=1)
        return _alpha(weights @ differ, said**2 - (totals**2).sum(axis=1), said)

    return _estimate(of, len(counts), bootstrap or Bootstrap())


def krippendorff_by_label(units: Sequence[Unit], bootstrap: Bootstrap | None = None) -> list[Estimate]:
    """For each label, the alpha of saying it or anything else."""
    counts, raters = _comparable(units)
    # Twice, since a pair that differs does so for the label and for the rest.
    differ = 2 * (counts * (raters - counts)) / (raters - 1)

    def of(weights: Array) -> Array:
        totals = weights @ counts
        said = (weights @ raters)[:, :1]
        return _alpha(weights @ differ, said**2 - totals**2 - (said - totals) ** 2, said)

    return _estimates(of, len(counts), bootstrap or Bootstrap())


def _comparable(units: Sequence[Unit]) -> tuple[Array, Array]:
    """The counts of the units that two or more saw, and by how many each was."""
    counts = _counts(units)
    counts = counts[counts.sum(axis=1) >= 2]
    return counts, counts.sum(axis=1, keepdims=True)


def _alpha(differ: Array, pairs: Array, said: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, 1 - differ * (said - 1) / pairs, np.nan)


def pairs_that_agree(units: Sequence[Unit]) -> float | None:
    """Of all pairs of raters on one unit, the share that said the same."""
    counts = _counts(units)
    raters = counts.sum(axis=1)
    pairs = float((raters * (raters - 1)).sum())
    return float(((counts**2).sum(axis=1) - raters).sum()) / pairs if pairs else None


def _cross_table(units: Sequence[Unit]) -> Array:
    size = _labels_of(units)
    table = np.zeros((size, size))
    for first, second in units:
        if first is not None and second is not None:
            table[first, second] += 1
    return table


def _counts(units: Sequence[Unit]) -> Array:
    """How often each label was given to each unit."""
    counts = np.zeros((len(units), _labels_of(units)))
    for row, unit in enumerate(units):
        for label in unit:
            if label is not None:
                counts[row, label] += 1
    return counts


def _labels_of(units: Sequence[Unit]) -> int:
    return 1 + max((label for unit in units for label in unit if label is not None), default=-1)


def _beyond_chance(observed: Array, expected: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan)


def _estimate(of: Callable[[Array], Array], units: int, bootstrap: Bootstrap) -> Estimate:
    if units == 0:
        return Estimate(None, None, None, 0)
    return _estimates(lambda weights: of(weights)[:, None], units, bootstrap)[0]


def _estimates(of: Callable[[Array], Array], units: int, bootstrap: Bootstrap) -> list[Estimate]:
    """`of` gives one row of values for each row of weights, and a weight is how often a unit was drawn."""
    if units == 0:
        return []
    random = np.random.default_rng(bootstrap.seed)
    values = of(np.ones((1, units)))[0]
    drawn = [np.empty((0, len(values)))]
    for start in range(0, bootstrap.resamples, _CHUNK):
        many = min(_CHUNK, bootstrap.resamples - start)
        drawn.append(of(random.multinomial(units, np.full(units, 1 / units), size=many).astype(float)))
    tail = (1 - bootstrap.confidence) / 2
    return [
        _between(float(value), resampled, tail, units)
        for value, resampled in zip(values, np.concatenate(drawn).T, strict=True)
    ]


def _between(value: float, resampled: Array, tail: float, units: int) -> Estimate:
    if math.isnan(value):
        return Estimate(None, None, None, units)
    resampled = resampled[~np.isnan(resampled)]
    if len(resampled) == 0:
        return Estimate(value, None, None, units)
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(value, float(low), float(high), units)
