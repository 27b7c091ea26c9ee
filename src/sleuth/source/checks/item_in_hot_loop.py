"""A number fetched from the GPU several times in every step, which makes it wait each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Step, Trace

# One fetch a step is what everybody does to show a loss; this many are a habit that costs.
MANY = 3


def trace(trace: Trace) -> Iterator[Finding]:
    by_loop: dict[int, list[Step]] = {}
    for step in trace.of("item"):
        loops = [loop for loop in step.loops if isinstance(loop, ast.For | ast.While)]
        if loops and step.receiver is not None and step.receiver.kind == "tensor" and not _now_and_then(step):
            by_loop.setdefault(id(loops[-1]), []).append(step)
    trained = {id(loop) for step in trace.of("backward") for loop in step.loops}
    uses_gpu = "cuda" in trace.file.text
    for loop, steps in by_loop.items():
        distinct = {id(step.node): step for step in steps}
        if loop in trained and uses_gpu and len(distinct) >= MANY:
            first = next(iter(distinct.values()))
            yield tell.found(
                "item-in-hot-loop",
                first.site,
                title=f"{len(distinct)} numbers are fetched from the GPU in every step",
                certainty="hint",
                severity="note",
                chain=[
                    tell.because(s.node, "the program waits here for the GPU", s.site.spot.file)
                    for s in distinct.values()
                ],
                fixes=[Fix("keep detached tensors and fetch them together every so many steps")],
            )


def _now_and_then(step: Step) -> bool:
    """Only every so many steps, or only on one condition?"""
    return bool(step.site.spot.tests)
