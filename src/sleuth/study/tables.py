"""From an expression on the engine to the small table that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Row = tuple[Any, ...]


class CannotAnswer(Exception):
    """The material has nothing that this analysis could count. `str()` of it is why, in one line."""


def collect(expression: Any) -> list[dict[str, Any]]:
    """Its rows, as plain Python values."""
    rows: list[dict[str, Any]] = expression.to_pyarrow().to_pylist()
    return rows


def percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


def by_size(rows: Iterable[Row], size: int = 1) -> tuple[Row, ...]:
    """The largest first; those of one size by name, so that every engine gives the same order."""
    return tuple(sorted(rows, key=lambda row: (-row[size], *(str(part) for part in row[:size]))))


def shares_within(posts: Any, outer: str, inner: str, by_year: bool = False) -> tuple[Row, ...]:
    """How often each pair of values meets, and its percent of the outer one: (outer, inner, n, percent).

    Every pair has a row, also those that were never met; the largest come first, or the earliest."""
    met = collect(posts.group_by(outer, inner).aggregate(n=posts.count()))
    counts = {(row[outer], row[inner]): row["n"] for row in met}
    outer_sums, inner_sums = sums(counts)
    order = sorted(outer_sums) if by_year else list(outer_sums)
    return tuple(
        (first, second, n, percent(n, outer_sums[first])) for first, second, n in filled(counts, order, inner_sums)
    )


def sums(counts: Mapping[tuple[Any, Any], int]) -> tuple[dict[Any, int], dict[Any, int]]:
    """Both sides' totals, the largest first."""
    outer: Counter[Any] = Counter()
    inner: Counter[Any] = Counter()
    for (first, second), n in sorted(counts.items()):
        outer[first] += n
        inner[second] += n
    return dict(outer.most_common()), dict(inner.most_common())


def filled(
    counts: Mapping[tuple[Any, Any], int], outer: Iterable[Any], inner: Iterable[Any]
) -> list[tuple[Any, Any, int]]:
    """Every pair, also those that were never met."""
    inner = list(inner)
    return [(first, second, counts.get((first, second), 0)) for first in outer for second in inner]
