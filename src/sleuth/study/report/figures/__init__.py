"""Figures as SVG, drawn from a result's table: small, sharp in print, themed by the page, shown without a script."""

from __future__ import annotations

from sleuth.study.report.figures.bars import bars
from sleuth.study.report.figures.data import CannotDraw, plot
from sleuth.study.report.figures.heatmap import heatmap
from sleuth.study.report.figures.lines import lines
from sleuth.study.report.figures.scatter import scatter
from sleuth.study.report.figures.stacked import stacked
from sleuth.study.report.figures.words import in_words
from sleuth.study.result import Result

__all__ = ["NARROW", "WIDE", "CannotDraw", "draw", "in_words"]

WIDE = 860.0
NARROW = 340.0


def draw(result: Result, width: float = WIDE, marks: dict[str, float] | None = None) -> str:
    """The figure of a result, so wide. `marks` are published numbers by category, for bars. Raises CannotDraw."""
    if result.figure is None:
        raise CannotDraw("it has no figure")
    words = in_words(result)
    drawing = result.figure.drawing
    if drawing == "scatter":
        return scatter(result, width, words)
    if drawing == "bars":
        return bars(plot(result), width, words, marks)
    draws = {"stacked-bars": stacked, "lines": lines, "heatmap": heatmap}
    return draws[drawing](plot(result), width, words)
