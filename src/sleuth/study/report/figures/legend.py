"""The key to a figure's series: a mark of each one's shape and colour, and its name."""

from __future__ import annotations

from sleuth.study.report.figures.canvas import SMALL, Canvas, series_class, shortened, width_of
from sleuth.study.report.figures.data import THE_REST

_ROW = 18.0
_MARK = 17.0
_GAP = 16.0


def legend(canvas: Canvas, names: list[str], top: float, left: float = 0, markers: bool = False) -> float:
    """Draw it from `top` on, in as many rows as it takes; the place where it ends."""
    x, y = left, top + 12
    for index, name in enumerate(names):
        name = shortened(name, canvas.width - left - _MARK, SMALL)
        wide = _MARK + width_of(name, SMALL)
        if x > left and x + wide > canvas.width:
            x, y = left, y + _ROW
        if markers:
            canvas.marker(x + 6, y - 4, index)
        else:
            canvas.rect(x, y - 9, 11, 11, "bar rest" if name == THE_REST else f"bar {series_class(index)}")
        canvas.text(x + _MARK, y, name, "small")
        x += wide + _GAP
    return y + 8
