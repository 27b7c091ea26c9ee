"""A grid of two categories: the number stands in its cell, and the darker the cell the larger it is."""

from __future__ import annotations

import math

from sleuth.study.report.figures.canvas import SMALL, Canvas, shortened, width_of, wrapped
from sleuth.study.report.figures.data import Plot

SHADES = 7
_ROW = 26.0
_WIDEST_CELL = 84.0
_TURN = -45.0


def heatmap(plot: Plot, width: float, alternative: str) -> str:
    canvas = Canvas(width)
    columns = [plot.name_of(x, plot.figure.x) for x in plot.xs]
    rows = [plot.name_of(y, plot.figure.y) for y in plot.series]
    room = min(max(width_of(name, SMALL) for name in rows), width * 0.34)
    cell = min((width - room - 10) / len(columns), _WIDEST_CELL)
    left = room + 8
    low, high = min(plot.cells.values()), max(plot.cells.values())
    for down, (row, name) in enumerate(zip(plot.series, rows, strict=True)):
        y = down * _ROW
        short = shortened(name, room, SMALL)
        canvas.text(room, y + _ROW / 2 + 4, short, "small", "end", tip=name if short != name else "")
        for across, x in enumerate(plot.xs):
            value = plot.cells.get((x, row))
            _cell(canvas, plot, value, left + across * cell, y, cell, (low, high), f"{name} × {columns[across]}")
    bottom = len(rows) * _ROW
    deep = _column_names(canvas, columns, left, bottom + 4, cell)
    return canvas.svg(bottom + deep + 8, alternative)


def shade(value: float, low: float, high: float) -> int:
    """Which of the shades: 0 is the palest."""
    low = min(low, 0.0)
    return 0 if high <= low else min(int(SHADES * (value - low) / (high - low)), SHADES - 1)


def _cell(
    canvas: Canvas,
    plot: Plot,
    value: float | None,
    x: float,
    y: float,
    wide: float,
    span: tuple[float, float],
    what: str,
) -> None:
    if value is None:
        canvas.rect(x + 0.5, y + 0.5, wide - 1, _ROW - 1, "cell", f"{what}: none")
        return
    said = plot.number_of(value)
    canvas.rect(x + 0.5, y + 0.5, wide - 1, _ROW - 1, f"cell h{shade(value, *span)}", f"{what}: {said}")
    fits = plot.number_of(value).replace(" %", "")
    if value != 0 and width_of(fits, SMALL) <= wide:
        canvas.text(x + wide / 2, y + _ROW / 2 + 4, fits, "small number", "middle")


def _column_names(canvas: Canvas, names: list[str], left: float, top: float, cell: float) -> float:
    """Level where they fit on two lines, slanted otherwise; how deep they reach."""
    level = [wrapped(name, cell - 4, SMALL) for name in names]
    if not any(lines[-1].endswith("…") for lines in level):
        for index, lines in enumerate(level):
            for down, line in enumerate(lines):
                canvas.text(left + (index + 0.5) * cell, top + 12 + down * 13, line, "small", "middle")
        return 12 + 13.0 * max(len(lines) for lines in level)
    slant = math.sin(math.radians(-_TURN))
    longest = 0.0
    for index, name in enumerate(names):
        x = left + (index + 0.5) * cell + 4
        # A slanted name runs to the left under the row names, and may not leave the picture.
        short = shortened(name, min(x / math.cos(math.radians(_TURN)) - 8, 250), SMALL)
        canvas.text(x, top + 10, short, "small", "end", _TURN, name if short != name else "")
        longest = max(longest, width_of(short, SMALL))
    return 14 + longest * slant
