"""A result's table as what is drawn: the values of x in their order, the series, and the number at each crossing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sleuth.study.report.numbers import is_number, is_percent, said
from sleuth.study.result import Figure, Result

# Beyond these a picture shows nothing, and sums of floats overflow.
_SMALLEST, _LARGEST = 1e-100, 1e100


class CannotDraw(Exception):
    """`str()` of it says what in the table cannot be drawn."""


@dataclass(frozen=True)
class Plot:
    """`cells[x, series]` is a number; a crossing that the table does not have is not there."""

    result: Result
    figure: Figure
    xs: tuple[Any, ...]
    series: tuple[Any, ...]
    cells: dict[tuple[Any, Any], float]

    @property
    def drawn(self) -> str:
        """The column whose numbers are drawn."""
        return self.figure.value if self.figure.drawing == "heatmap" and self.figure.value else self.figure.y

    def name_of(self, value: Any, column: str) -> str:
        return said(value, column)

    def number_of(self, value: float) -> str:
        return said(value, self.drawn) + (" %" if is_percent(self.drawn) else "")

    @property
    def several(self) -> bool:
        return len(self.series) > 1


def first(drawn: Plot, most: int) -> Plot:
    """The same with so many categories at most."""
    xs = drawn.xs[:most]
    cells = {at: value for at, value in drawn.cells.items() if at[0] in set(xs)}
    return drawn if len(xs) == len(drawn.xs) else replace(drawn, xs=xs, cells=cells)


# The name of the series that are drawn as one.
THE_REST = "all others"


def with_the_rest(drawn: Plot, most: int) -> Plot:
    """The largest series, and all others added up."""
    kept = largest(drawn, most)
    cells = dict(kept.cells)
    for at, value in drawn.cells.items():
        if at not in kept.cells:
            cells[at[0], THE_REST] = cells.get((at[0], THE_REST), 0) + value
    return replace(drawn, series=(*kept.series, THE_REST), cells=cells)


def largest(drawn: Plot, most: int) -> Plot:
    """The same with the series that have most, at most so many, in the order they had."""
    if len(drawn.series) <= most:
        return drawn
    sums: dict[Any, float] = dict.fromkeys(drawn.series, 0.0)
    for (_, name), value in drawn.cells.items():
        sums[name] += value
    kept = sorted(drawn.series, key=lambda name: -sums[name])[:most]
    series = tuple(name for name in drawn.series if name in kept)
    return replace(drawn, series=series, cells={at: value for at, value in drawn.cells.items() if at[1] in kept})


def plot(result: Result) -> Plot:
    """What a drawing by categories needs. Raises CannotDraw."""
    figure = result.figure
    assert figure is not None
    across = figure.y if figure.drawing == "heatmap" else figure.series
    drawn = figure.value if figure.drawing == "heatmap" else figure.y
    if drawn is None:
        raise CannotDraw("no column is named for the numbers of its cells")
    x_at, y_at = column(result, figure.x), column(result, drawn)
    series_at = None if across is None else column(result, across)
    cells: dict[tuple[Any, Any], float] = {}
    for row in result.rows:
        value = drawable(row[y_at])
        if value is not None:
            cells[row[x_at], None if series_at is None else row[series_at]] = value
    if not cells:
        raise CannotDraw(f"the column {drawn!r} holds no numbers")
    xs = tuple(dict.fromkeys(x for x, _ in cells))
    return Plot(result, figure, xs, tuple(dict.fromkeys(name for _, name in cells)), cells)


def drawable(value: Any) -> float | None:
    """The number, where it has a place on an axis."""
    if not is_number(value) or abs(value) > _LARGEST:
        return None
    number: float = value
    return number if abs(number) >= _SMALLEST else 0


def column(result: Result, name: str) -> int:
    try:
        return result.columns.index(name)
    except ValueError:
        raise CannotDraw(f"there is no column {name!r}") from None
