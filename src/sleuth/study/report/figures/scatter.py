"""Points on two axes, each with its name beside it where no other name is in the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sleuth.study.report.figures.canvas import SMALL, Canvas, shortened, width_of
from sleuth.study.report.figures.data import CannotDraw, column, drawable
from sleuth.study.report.figures.legend import legend
from sleuth.study.report.figures.scale import Scale, are_worlds_apart, powers_scale, scale, tick_text
from sleuth.study.report.numbers import said
from sleuth.study.result import Result

_TALL = 320.0
_BELOW = 42.0
# More points than this are a cloud: names would cover it.
_NAMED = 80
MOST = 2000


@dataclass(frozen=True)
class _Point:
    x: float
    y: float
    name: str
    series: Any


@dataclass
class _Taken:
    """What is covered already, as boxes."""

    left: float
    right: float
    bottom: float
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def free(self, box: tuple[float, float, float, float]) -> bool:
        x1, y1, x2, y2 = box
        if x1 < self.left or x2 > self.right or y2 > self.bottom:
            return False
        return all(x2 <= a or x1 >= c or y2 <= b or y1 >= d for a, b, c, d in self.boxes)


def scatter(result: Result, width: float, alternative: str) -> str:
    figure = result.figure
    assert figure is not None
    points = _points(result)
    series = list(dict.fromkeys(point.series for point in points))
    canvas = Canvas(width)
    names = [said(name, figure.series or "") for name in series]
    top = legend(canvas, names, 0, markers=True) + 8 if len(series) > 1 else 6.0
    caption_at = top + 8
    top += 20
    y_axis = _axis([point.y for point in points], top + _TALL, top, 5)
    left = max(width_of(tick_text(tick), SMALL) for tick in y_axis.ticks) + 8
    x_axis = _axis([point.x for point in points], left + 8, width - 22, 6 if width > 500 else 3)
    canvas.text(0, caption_at, shortened(_axis_name(figure.y, y_axis), width), "small soft")
    _axes(canvas, x_axis, y_axis, left, figure.x)
    taken = _Taken(left, width, top + _TALL + 8, [_box(x_axis(point.x), y_axis(point.y)) for point in points])
    for point in points:
        index = series.index(point.series)
        tip = f"{point.name}: {figure.x} {said(point.x, figure.x)}, {figure.y} {said(point.y, figure.y)}".lstrip(": ")
        canvas.marker(x_axis(point.x), y_axis(point.y), index, tip, 5 if len(points) <= _NAMED else 3)
    if len(points) <= _NAMED:
        for point in points:
            _name(canvas, taken, x_axis(point.x), y_axis(point.y), point.name)
    return canvas.svg(top + _TALL + _BELOW, alternative)


def _points(result: Result) -> list[_Point]:
    figure = result.figure
    assert figure is not None
    x_at, y_at = column(result, figure.x), column(result, figure.y)
    name_at = None if figure.value is None else column(result, figure.value)
    series_at = None if figure.series is None else column(result, figure.series)
    points = [
        _Point(
            x,
            y,
            "" if name_at is None else said(row[name_at]),
            None if series_at is None else row[series_at],
        )
        for row in result.rows
        if (x := drawable(row[x_at])) is not None and (y := drawable(row[y_at])) is not None
    ]
    if not points:
        raise CannotDraw(f"no row has numbers for both {figure.x!r} and {figure.y!r}")
    return points[:: -(-len(points) // MOST)]


def _axis(values: list[float], start: float, end: float, ticks: int) -> Scale:
    """It begins at zero unless all values are crowded far from it."""
    if are_worlds_apart(values):
        return powers_scale(values, start, end)
    near_zero = min(values) < 0 or max(values) == 0 or min(values) / max(values) < 0.5
    return scale(values, start, end, ticks, near_zero)


def _axes(canvas: Canvas, x_axis: Scale, y_axis: Scale, left: float, name: str) -> None:
    for tick in y_axis.ticks:
        canvas.line(left, y_axis(tick), canvas.width - 8, y_axis(tick), "axis" if tick == y_axis.low else "grid")
        canvas.text(left - 6, y_axis(tick) + 4, tick_text(tick), "small number soft", "end")
    bottom = y_axis(y_axis.low)
    for tick in x_axis.ticks:
        canvas.line(x_axis(tick), bottom, x_axis(tick), bottom + 4, "axis")
        canvas.text(x_axis(tick), bottom + 18, tick_text(tick), "small number soft", "middle")
    named = shortened(_axis_name(name, x_axis), canvas.width - left)
    canvas.text((left + canvas.width) / 2, bottom + 36, named, "small soft", "middle")


def _axis_name(name: str, axis: Scale) -> str:
    return f"{name} (in powers of ten)" if axis.powers else name


def _box(x: float, y: float) -> tuple[float, float, float, float]:
    return x - 5, y - 5, x + 5, y + 5


def _name(canvas: Canvas, taken: _Taken, x: float, y: float, name: str) -> None:
    """To the right, to the left, above or below: the first place that is free. Its tip names it in any case."""
    wide = width_of(name, SMALL)
    if not name:
        return
    for anchor, at, base, start in (
        ("start", x + 8, y + 4, x + 8),
        ("end", x - 8, y + 4, x - 8 - wide),
        ("middle", x, y - 9, x - wide / 2),
        ("middle", x, y + 17, x - wide / 2),
    ):
        box = (start, base - 10, start + wide, base + 3)
        if taken.free(box):
            taken.boxes.append(box)
            canvas.text(at, base, name, "small over", anchor)
            return
