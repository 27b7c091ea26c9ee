"""What a figure shows, in a sentence: for those who hear the page, and for the picture's own file."""

from __future__ import annotations

from sleuth.study.report.figures.data import CannotDraw, Plot, plot
from sleuth.study.result import Result

_CALLED = {
    "bars": "Bars",
    "stacked-bars": "Stacked bars",
    "lines": "Lines",
    "heatmap": "Heatmap",
    "scatter": "Scatter plot",
}


def in_words(result: Result) -> str:
    """Never raises: what cannot be described is at least named."""
    figure = result.figure
    if figure is None:
        return result.title
    if figure.drawing == "scatter":
        return f"{_CALLED['scatter']}: {figure.y} against {figure.x}, {len(result.rows)} points. {result.title}."
    try:
        drawn = plot(result)
    except CannotDraw:
        return result.title
    by = f"{figure.x} and {figure.y}" if figure.drawing == "heatmap" else figure.x
    by += f" and {figure.series}" if drawn.several and figure.series and figure.drawing != "heatmap" else ""
    return f"{_CALLED[figure.drawing]}: {drawn.drawn} by {by}. {_extremes(drawn)}"


def _extremes(drawn: Plot) -> str:
    ordered = sorted(drawn.cells.items(), key=lambda item: item[1])
    (low_at, low), (high_at, high) = ordered[0], ordered[-1]
    if low == high:
        return f"All are {drawn.number_of(high)}."
    return (
        f"The highest is {_place(drawn, high_at)} with {drawn.number_of(high)}, "
        f"the lowest {_place(drawn, low_at)} with {drawn.number_of(low)}."
    )


def _place(drawn: Plot, at: tuple[object, object]) -> str:
    second = drawn.figure.y if drawn.figure.drawing == "heatmap" else drawn.figure.series or ""
    names = [drawn.name_of(at[0], drawn.figure.x)]
    if drawn.several:
        names.append(drawn.name_of(at[1], second))
    return ", ".join(names)
