"""A long table as people read it: one row a category and one column a series, where the figure says which is which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sleuth.study.report.numbers import is_percent, places_for, said
from sleuth.study.result import Result

# A wider table than this is read more easily as a long one.
_MOST_COLUMNS = 14
# A shorter one needs no crossing.
_WORTH_IT = 8


@dataclass(frozen=True)
class Reading:
    """A table, what is to be said above it, and how many digits its cells have where they are all of one kind."""

    table: Result
    caption: str = ""
    places: int | None = None


def for_reading(result: Result) -> Reading:
    """Crossed, where its figure crosses two of its columns; else as it is."""
    figure = result.figure
    if figure is None or figure.drawing == "scatter":
        return Reading(result)
    one, other, cells = figure.x, figure.series, figure.y
    if figure.drawing == "heatmap":
        one, other, cells = figure.y, figure.x, figure.value or ""
    if other is None or not {one, other, cells} <= set(result.columns):
        return Reading(result)
    down, across = (one, other) if figure.drawing == "heatmap" else _down_and_across(result, one, other)
    crossed = _crossed(result, down, across, cells)
    if crossed is None:
        return Reading(result)
    places = 1 if is_percent(cells) else places_for([value for row in crossed.rows for value in row[1:]])
    return Reading(crossed, f"{cells} by {down} and {across}", places)


def _down_and_across(result: Result, one: str, other: str) -> tuple[str, str]:
    """Whichever has the longer names stands at the side, where there is room for them."""
    lengths = {name: len("".join(dict.fromkeys(_names(result, name)))) for name in (one, other)}
    return (one, other) if lengths[one] >= lengths[other] else (other, one)


def _names(result: Result, column: str) -> list[str]:
    at = result.columns.index(column)
    return [said(row[at], column) for row in result.rows]


def _crossed(result: Result, down: str, across: str, cells: str) -> Result | None:
    at = [result.columns.index(name) for name in (down, across, cells)]
    found: dict[tuple[Any, Any], Any] = {}
    for row in result.rows:
        where = row[at[0]], row[at[1]]
        if where in found:
            return None
        found[where] = row[at[2]]
    names = list(dict.fromkeys(name for _, name in found))
    firsts = list(dict.fromkeys(first for first, _ in found))
    if len(names) > _MOST_COLUMNS or len(found) < max(_WORTH_IT, len(names) * len(firsts) / 3):
        return None
    rows = tuple((first, *(found.get((first, name)) for name in names)) for first in firsts)
    return Result(result.name, result.title, (down, *(said(name, across) for name in names)), rows)
