"""The paper's numbers as ticks across the bars of a figure, where it printed the very thing that the bars show."""

from __future__ import annotations

from sleuth.study.report.numbers import said
from sleuth.study.result import Result


def published_marks(result: Result) -> dict[str, float]:
    """By category; the first paper that printed a number for it."""
    figure = result.figure
    if figure is None or figure.drawing != "bars" or figure.series is not None or figure.x not in result.columns:
        return {}
    at = result.columns.index(figure.x)
    by_what = {item.what: item.published for item in reversed(result.comparisons)}
    names = [said(row[at], figure.x) for row in result.rows]
    return {name: by_what[f"{name}: {figure.y}"] for name in names if f"{name}: {figure.y}" in by_what}
