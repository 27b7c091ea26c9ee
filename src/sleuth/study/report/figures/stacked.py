"""Bars of several parts: one a category, the parts laid end to end."""

from __future__ import annotations

from typing import Any

from sleuth.study.report.figures.canvas import SERIES, SMALL, Canvas, series_class, width_of, wrapped
from sleuth.study.report.figures.data import THE_REST, Plot, with_the_rest
from sleuth.study.report.figures.legend import legend
from sleuth.study.report.figures.scale import Scale, scale

_BAR = 24.0
_GAP = 9.0
_LINE = 14.0
# A key of more series than this has no colours left to tell them by. Those that every bar has are drawn together as
# one; those that are each of one bar are named on it.
_KEYED = 10


def stacked(plot: Plot, width: float, alternative: str) -> str:
    canvas = Canvas(width)
    each_its_own = len(plot.series) > _KEYED and len(plot.cells) < 1.5 * len(plot.series)
    if len(plot.series) > _KEYED and not each_its_own:
        plot = with_the_rest(plot, SERIES)
    names = [plot.name_of(x, plot.figure.x) for x in plot.xs]
    series = [plot.name_of(name, plot.figure.series or "") for name in plot.series]
    room = min(max(width_of(name) for name in names), width * 0.36)
    totals = {x: sum(max(plot.cells.get((x, one), 0), 0) for one in plot.series) for x in plot.xs}
    numbers = max(width_of(plot.number_of(value), SMALL) for value in totals.values())
    top = legend(canvas, series, 0) + 4 if not each_its_own else 4.0
    axis = scale(totals.values(), room + 10, width - numbers - 8)
    if max(totals.values()) > 0:
        # The longest bar may use all the room there is: its numbers are written on it, no axis is needed.
        axis = Scale(0, max(totals.values()), axis.start, axis.end, ())
    y = top
    for x, name in zip(plot.xs, names, strict=True):
        for index, line in enumerate(lines := wrapped(name, room)):
            first = y + _BAR / 2 - _LINE * (len(lines) - 1) / 2 + 4.5
            canvas.text(room, first + index * _LINE, line, "label", "end", tip=name if len(lines) > 1 else "")
        _parts(canvas, plot, x, name, series, axis, y, each_its_own)
        canvas.text(axis(totals[x]) + 5, y + _BAR / 2 + 4, plot.number_of(totals[x]), "small number")
        y += _BAR + _GAP
    canvas.line(axis(0), top - 4, axis(0), y - _GAP / 2, "axis")
    return canvas.svg(y, alternative)


def _parts(
    canvas: Canvas, plot: Plot, x: Any, name: str, series: list[str], axis: Scale, y: float, each_its_own: bool
) -> None:
    parts = [(plot.cells.get((x, one), 0), index) for index, one in enumerate(plot.series)]
    if each_its_own:
        parts.sort(key=lambda part: -part[0])
    at = 0.0
    for place, (value, index) in enumerate(parts):
        if value <= 0:
            continue
        left, right = axis(at), axis(at + value)
        said = plot.number_of(value)
        rest = plot.series[index] is THE_REST
        kind = "rest" if rest else series_class(place % SERIES if each_its_own else index)
        canvas.rect(left, y, max(right - left - 1, 0.4), _BAR, f"bar {kind}", f"{name}, {series[index]}: {said}")
        texts = (f"{series[index]} {said}", series[index], said) if each_its_own else (said,)
        fits = next((text for text in texts if width_of(text, SMALL) + 2 < right - left), "")
        if fits and "again" not in kind:
            canvas.text((left + right) / 2, y + _BAR / 2 + 4, fits, "label small" if rest else "on-bar", "middle")
        at += value
