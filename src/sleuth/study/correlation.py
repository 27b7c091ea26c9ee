"""Correlations and t-tests of small tables, and the p values that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any, NamedTuple


class Tested(NamedTuple):
    """A statistic with its two-sided p value; nothing where the numbers do not allow one."""

    value: float | None
    p: float | None


_UNDEFINED = Tested(None, None)


def _stats() -> Any:
    # It takes longer to import than most analyses take to run.
    from scipy import stats

    return stats


def pearson(first: Sequence[float], second: Sequence[float]) -> Tested:
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return _UNDEFINED
    found = _stats().pearsonr(first, second)
    return Tested(float(found.statistic), float(found.pvalue))


def spearman(first: Sequence[float], second: Sequence[float]) -> Tested:
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return _UNDEFINED
    found = _stats().spearmanr(first, second)
    return Tested(float(found.statistic), float(found.pvalue))


def of_coefficient(r: float | None, n: int) -> Tested:
    """The p value of a correlation that an engine computed over n pairs."""
    if r is None or not isfinite(r) or n < 3:
        return _UNDEFINED
    if abs(r) >= 1:
        return Tested(max(-1.0, min(1.0, r)), 0.0)
    t = abs(r) * sqrt((n - 2) / (1 - r * r))
    return Tested(r, float(2 * _stats().t.sf(t, n - 2)))


def welch(first: Sequence[float], second: Sequence[float]) -> Tested:
    """A t-test of two samples that need not vary alike."""
    if min(len(first), len(second)) < 2 or (len(set(first)) == 1 and len(set(second)) == 1):
        return _UNDEFINED
    found = _stats().ttest_ind(first, second, equal_var=False)
    return Tested(float(found.statistic), float(found.pvalue))


def welch_of_shares(hits: int, of: int, others: int, of_others: int) -> Tested:
    """The same t-test where each value is 1 or 0, from the counts alone."""
    if min(of, of_others) < 2 or (hits in (0, of) and others in (0, of_others)):
        return _UNDEFINED
    first, second = hits / of, others / of_others
    found = _stats().ttest_ind_from_stats(
        first, _deviation(first, of), of, second, _deviation(second, of_others), of_others, equal_var=False
    )
    return Tested(float(found.statistic), float(found.pvalue))


def holm(values: Sequence[float | None]) -> list[float | None]:
    """The p values, corrected for having made so many tests."""
    corrected: list[float | None] = [None] * len(values)
    made = sorted((p, index) for index, p in enumerate(values) if p is not None)
    highest = 0.0
    for rank, (p, index) in enumerate(made):
        highest = max(highest, min(1.0, p * (len(made) - rank)))
        corrected[index] = highest
    return corrected


def dependence(counts: Sequence[Sequence[int]]) -> str:
    """Whether rows and columns of a table of counts depend on each other, in a sentence; nothing for a single row."""
    if min(len(counts), len(counts[0])) < 2:
        return ""
    found = _stats().chi2_contingency(counts)
    strength = _stats().contingency.association(counts, method="cramer")
    rough = ", though many cells are small" if (found.expected_freq < 5).mean() > 0.2 else ""
    return (
        f"Cramér's V {strength:.2f}; χ² {found.statistic:.1f} with {found.dof} degrees of freedom,"
        f" p {found.pvalue:.2g}{rough}."
    )


def _deviation(share: float, of: int) -> float:
    return sqrt(share * (1 - share) * of / (of - 1))
