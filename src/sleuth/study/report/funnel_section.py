"""The selection in the page: drawn, and as a table beside the paper's own steps."""

from __future__ import annotations

from sleuth.study.report import beside, markup
from sleuth.study.report.content import Step
from sleuth.study.report.figures.canvas import safe
from sleuth.study.report.figures.funnel import funnel
from sleuth.study.report.numbers import MISSING, percent
from sleuth.study.result import Comparison


def funnel_section(steps: tuple[Step, ...]) -> str:
    """Drawn and as a table; nothing where nothing was selected."""
    if not steps:
        return ""
    compared = any(step.published is not None for step in steps)
    heads = [
        "step",
        "posts",
        "of the step before",
        "of the first",
        *(["in the paper", "difference"] if compared else []),
    ]
    head = "".join(f'<th scope="col"{"" if index == 0 else " class=n"}>{name}</th>' for index, name in enumerate(heads))
    rows = "".join(_row(steps, index, compared) for index in range(len(steps)))
    table = markup.scrollable(
        f'<table class="stack"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>',
        "The steps of the selection",
    )
    key = "The pale part of a bar is what its step left out" + (
        "; the tick across it is the paper's number." if compared else "."
    )
    return f'<div class="card">{markup.drawn(lambda width: funnel(steps, width), key)}{table}</div>'


def _row(steps: tuple[Step, ...], index: int, compared: bool) -> str:
    step = steps[index]
    before = next((earlier.posts for earlier in reversed(steps[:index]) if earlier.posts is not None), 0)
    cells = {"posts": "by hand", "of the step before": MISSING, "of the first": MISSING}
    if step.posts is not None:
        shares = percent(step.posts, before), percent(step.posts, steps[0].posts or 0)
        cells = dict(zip(cells, (f"{step.posts:,}", *shares), strict=True))
    if compared:
        known = step.published is not None
        item = Comparison(step.name, step.posts, step.published or 0, "")
        cells["paper"] = beside.published(item) if known else MISSING
        cells["difference"] = MISSING if not known else "same" if item.same else beside.difference(item)
    inner = "".join(f'<td class="n" data-label="{name}">{value}</td>' for name, value in cells.items())
    return f'<tr><th scope="row">{safe(step.name)}{markup.small(step.note)}</th>{inner}</tr>'
