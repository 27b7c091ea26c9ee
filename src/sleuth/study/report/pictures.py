"""The figure of one result as a file of its own."""

from __future__ import annotations

from sleuth.study.report.figures import draw
from sleuth.study.report.figures.picture import picture
from sleuth.study.report.marks import published_marks
from sleuth.study.result import Result


def picture_of(result: Result) -> str:
    """A whole SVG file, with the paper's numbers as ticks where it printed them. Raises CannotDraw."""
    return picture(draw(result, marks=published_marks(result)))
