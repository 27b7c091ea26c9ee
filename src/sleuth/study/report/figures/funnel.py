"""A selection, step by step: how many posts each step kept, beside how many the paper had there."""

from __future__ import annotations

from sleuth.study.report.content import Step
from sleuth.study.report.figures.canvas import SMALL, Canvas, shortened, width_of
from sleuth.study.report.numbers import percent

_BAR = 20.0
_STEP = 70.0


def funnel(steps: tuple[Step, ...], width: float) -> str:
    """One bar a step. The pale part is what the step left out; the tick is the paper's number."""
    canvas = Canvas(width)
    most = max(max(step.posts or 0, step.published or 0) for step in steps) or 1
    before: int | None = None
    for index, step in enumerate(steps):
        y = index * _STEP
        said = "by hand" if step.posts is None else f"{step.posts:,}"
        canvas.text(0, y + 13, shortened(step.name, width - width_of(said) - 16), "label", tip=step.name)
        canvas.text(width, y + 13, said, "label number", "end")
        _bar(canvas, step, before, width / most, y + 19)
        _beneath(canvas, step, before, y + 54, width)
        before = step.posts if step.posts is not None else before
    return canvas.svg(len(steps) * _STEP - 8, _in_words(steps))


def _bar(canvas: Canvas, step: Step, before: int | None, each: float, y: float) -> None:
    if step.posts is None:
        canvas.rect(0, y, canvas.width, _BAR, "empty", f"{step.name}: chosen by hand in the paper, not computed here")
    else:
        if before is not None:
            canvas.rect(0, y, before * each, _BAR, "dropped", f"before: {before:,}")
        canvas.rect(
            0, y, max(step.posts * each, 1.5 if step.posts else 0), _BAR, "kept", f"{step.name}: {step.posts:,}"
        )
    if step.published is not None:
        x = min(max(step.published * each, 1), canvas.width - 1)
        canvas.line(x, y - 3, x, y + _BAR + 3, "halo")
        canvas.line(x, y - 3, x, y + _BAR + 3, "published")


def _beneath(canvas: Canvas, step: Step, before: int | None, y: float, width: float) -> None:
    kept = "" if before is None or step.posts is None else f"{percent(step.posts, before)} of the step before"
    paper = "" if step.published is None else f"paper {step.published:,}"
    if kept:
        canvas.text(0, y, shortened(kept, width - width_of(paper, SMALL) - 12, SMALL), "small soft")
    if paper:
        canvas.text(width, y, paper, "small number soft", "end")


def _in_words(steps: tuple[Step, ...]) -> str:
    told = (f"{step.name} {'by hand' if step.posts is None else format(step.posts, ',')}" for step in steps)
    return f"Funnel of the selection: {', then '.join(told)}."
