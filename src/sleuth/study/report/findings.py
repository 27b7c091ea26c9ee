"""What stands out: the label that was given most, is read most and waits longest, for the first lines of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sleuth.study.report.content import Fact
from sleuth.study.report.groups import grouped
from sleuth.study.report.numbers import is_number, is_percent, places_for, said
from sleuth.study.result import Result

# Analysis, column, and what the largest number in it means.
_STANDS_OUT = (
    ("distribution", "percent", "most frequent"),
    ("popularity", "median views", "most viewed"),
    ("difficulty", "median days", "longest to an accepted answer"),
)
# The median of fewer posts is no news.
_ENOUGH = 10


def findings(results: tuple[Result, ...]) -> Iterator[Fact]:
    """One for each analysis that is there, from the table that is told first."""
    told = [result for _, members in grouped(results) for result in members]
    for analysis, column, meaning in _STANDS_OUT:
        result = next((each for each in told if each.name.partition(":")[0] == analysis), None)
        row = None if result is None else _largest(result, column)
        if result is not None and row is not None:
            yield Fact(meaning, str(row[0]), _said(result, column, row))


def _largest(result: Result, column: str) -> tuple[Any, ...] | None:
    if column not in result.columns:
        return None
    at = result.columns.index(column)
    posts = result.columns.index("posts") if "posts" in result.columns else None
    rows = [row for row in result.rows if is_number(row[at]) and (posts is None or (row[posts] or 0) >= _ENOUGH)]
    return max(rows, key=lambda row: float(row[at]), default=None) if len(rows) > 1 else None


def _said(result: Result, column: str, row: tuple[Any, ...]) -> str:
    value = row[result.columns.index(column)]
    number = said(value, column, min(places_for([value]), 2))
    scheme = result.name.partition(":")[2]
    return (f"{number} %" if is_percent(column) else f"{column} {number}") + (f", {scheme}" if scheme else "")
