"""Lines along an axis that has an order, years most of all; each ends in its own name where there is room."""

from __future__ import annotations

from typing import Any

from sleuth.study.report.figures.canvas import PLAIN, SMALL, Canvas, series_class, shortened, width_of
from sleuth.study.report.figures.data import Plot, largest
from sleuth.study.report.figures.legend import legend
from sleuth.study.report.figures.scale import Scale, scale, tick_text
from sleuth.study.report.numbers import is_number

_TALL = 300.0
_BELOW = 40.0
_LINE = 15.0
# Narrower than this, names at the lines' ends would leave too little for the lines.
_WIDE = 520.0
# More lines than this nobody can follow.
_MOST = 10


def lines(plot: Plot, width: float, alternative: str) -> str:
    canvas = Canvas(width)
    left_out = len(plot.series) - _MOST
    plot = largest(plot, _MOST)
    names = [plot.name_of(name, plot.figure.series or "") for name in plot.series]
    at_ends = plot.several and width >= _WIDE
    top = 8.0 if at_ends or not plot.several else legend(canvas, names, 0, markers=True) + 8
    caption = shortened(plot.drawn, width)
    canvas.text(0, top + 6, caption, "small soft")
    top += 18
    right = width - (min(max(width_of(name, SMALL) for name in names), width * 0.3) + 22 if at_ends else 14)
    y_axis = scale(plot.cells.values(), top + _TALL, top)
    left = max(width_of(tick_text(tick), SMALL) for tick in y_axis.ticks) + 8
    for tick in y_axis.ticks:
        canvas.line(left, y_axis(tick), right, y_axis(tick), "axis" if tick == 0 else "grid")
        canvas.text(left - 6, y_axis(tick) + 4, tick_text(tick), "small number soft", "end")
    xs = sorted(plot.xs) if all(is_number(x) for x in plot.xs) else list(plot.xs)
    places = _places(xs, left + 12, right - 8)
    _x_labels(canvas, plot, xs, places, top + _TALL)
    ends: list[tuple[float, int]] = []
    for index, one in enumerate(plot.series):
        points = [(places[x], y_axis(plot.cells[x, one])) for x in xs if (x, one) in plot.cells]
        canvas.path(points, f"line {series_class(index)}")
        ends.append((points[-1][1], index))
        for x in xs:
            if (x, one) in plot.cells:
                value = plot.cells[x, one]
                tip = f"{names[index]}, {plot.name_of(x, plot.figure.x)}: {plot.number_of(value)}"
                canvas.marker(places[x], y_axis(value), index, tip if plot.several else tip.partition(", ")[2], 4)
    if at_ends:
        _name_ends(canvas, names, ends, right, top + _TALL)
    if left_out > 0:
        canvas.text(0, top + _TALL + _BELOW + 8, f"The {_MOST} largest; {left_out:,} more in the table", "small soft")
    return canvas.svg(top + _TALL + _BELOW + (16 if left_out > 0 else 0), alternative)


def _places(xs: list[Any], left: float, right: float) -> dict[Any, float]:
    """Numbers where they belong; other values at equal distances."""
    if len(xs) == 1:
        return {xs[0]: (left + right) / 2}
    if all(is_number(x) for x in xs):
        axis = Scale(xs[0], xs[-1], left, right, ())
        return {x: axis(x) for x in xs}
    return {x: left + index * (right - left) / (len(xs) - 1) for index, x in enumerate(xs)}


def _x_labels(canvas: Canvas, plot: Plot, xs: list[Any], places: dict[Any, float], bottom: float) -> None:
    """Every label that does not touch the one before it."""
    free = -1.0
    for x in xs:
        name = plot.name_of(x, plot.figure.x)
        wide = width_of(name, SMALL)
        if places[x] - wide / 2 >= free:
            canvas.text(places[x], bottom + 18, name, "small number soft", "middle")
            free = places[x] + wide / 2 + 6
    canvas.text((places[xs[0]] + places[xs[-1]]) / 2, bottom + 34, plot.figure.x, "small soft", "middle")


def _name_ends(canvas: Canvas, names: list[str], ends: list[tuple[float, int]], right: float, bottom: float) -> None:
    """Beside each line's last point, moved apart where they would overlap."""
    ends = sorted(ends)
    places: list[float] = []
    for y, _ in ends:
        places.append(max(y, places[-1] + _LINE) if places else y)
    over = places[-1] - bottom
    for index in range(len(places) - 1, -1, -1):
        limit = bottom if index == len(places) - 1 else places[index + 1] - _LINE
        places[index] = min(places[index], limit) if over > 0 else places[index]
    for (y, index), place in zip(ends, places, strict=True):
        canvas.line(right - 2, y, right + 6, place, f"leader {series_class(index)}")
        canvas.marker(right + 11, place, index, size=3.5)
        name = shortened(names[index], canvas.width - right - 19, SMALL)
        canvas.text(right + 19, place + PLAIN * 0.32, name, "small", tip=names[index] if name != names[index] else "")
