"""Bars that lie: one a category, or one a series side by side. Lying, their names never need to be turned."""

from __future__ import annotations

from sleuth.study.report.figures.canvas import PLAIN, SMALL, Canvas, series_class, width_of, wrapped
from sleuth.study.report.figures.data import Plot, first
from sleuth.study.report.figures.legend import legend
from sleuth.study.report.figures.scale import Scale, scale

# How much of the picture names may take at most.
_SIDE = 0.4
_BAR = 20.0
_THIN = 13.0
_GAP = 9.0
_LINE = 14.0
# A longer picture is scrolled past; the table has the rest.
_MOST = 40


def bars(plot: Plot, width: float, alternative: str, marks: dict[str, float] | None = None) -> str:
    """`marks` are published numbers by category: a tick across the bar shows where the paper has it."""
    canvas = Canvas(width)
    left_out = len(plot.xs) - _MOST
    plot = first(plot, _MOST)
    marks = {name: mark for name, mark in (marks or {}).items() if name in map(str, plot.xs)}
    names = [plot.name_of(x, plot.figure.x) for x in plot.xs]
    series = [plot.name_of(name, plot.figure.series or "") for name in plot.series]
    room = min(max(width_of(name) for name in names), width * _SIDE)
    numbers = max(width_of(plot.number_of(value), SMALL) for value in plot.cells.values())
    top = legend(canvas, series, 0) if plot.several else 0.0
    axis = scale([*plot.cells.values(), *marks.values()], room + 10, width - numbers - 8)
    thick = _THIN if plot.several else _BAR
    y = top + 4
    for x, name in zip(plot.xs, names, strict=True):
        lines = wrapped(name, room)
        tall = max(thick * len(series), _LINE * len(lines))
        _names(canvas, lines, name, room, y + tall / 2)
        for index, one in enumerate(plot.series):
            value = plot.cells.get((x, one))
            if value is not None:
                at = y + (tall - thick * len(series)) / 2 + thick * index
                _bar(canvas, plot, axis, value, at, thick, index, f"{name}{_of(series[index], plot)}")
        if name in marks and not plot.several:
            _tick(canvas, axis(marks[name]), y + (tall - thick) / 2, thick)
        y += tall + _GAP
    canvas.line(axis(0), top, axis(0), y - _GAP / 2, "axis")
    if marks and not plot.several:
        y = _mark_key(canvas, y)
    if left_out > 0:
        canvas.text(0, y + 12, f"and {left_out:,} more in the table", "small soft")
        y += 20
    return canvas.svg(y, alternative)


def _of(series: str, plot: Plot) -> str:
    return f", {series}" if plot.several else ""


def _names(canvas: Canvas, lines: list[str], whole: str, right: float, middle: float) -> None:
    first = middle - _LINE * (len(lines) - 1) / 2 + PLAIN * 0.36
    for index, line in enumerate(lines):
        canvas.text(right, first + index * _LINE, line, "label", "end", tip=whole if lines[-1].endswith("…") else "")


def _bar(canvas: Canvas, plot: Plot, axis: Scale, value: float, y: float, thick: float, index: int, what: str) -> None:
    said = plot.number_of(value)
    canvas.rect(axis(0), y + 0.5, axis(value) - axis(0), thick - 1, f"bar {series_class(index)}", f"{what}: {said}")
    end = max(axis(value), axis(0))
    canvas.text(end + 5, y + thick / 2 + SMALL * 0.36, said, "small number")


def _tick(canvas: Canvas, x: float, y: float, thick: float) -> None:
    canvas.line(x, y - 2.5, x, y + thick + 2.5, "halo")
    canvas.line(x, y - 2.5, x, y + thick + 2.5, "published")


def _mark_key(canvas: Canvas, y: float) -> float:
    canvas.line(4, y + 2, 4, y + 14, "published")
    canvas.text(12, y + 12, "the number that the paper printed", "small")
    return y + 20
