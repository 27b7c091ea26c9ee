"""A loop that calls backward and step on an optimiser and never clears the gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Step, Trace


def trace(trace: Trace) -> Iterator[Finding]:
    told = set()
    for step in trace.of("step"):
        if step.receiver is None or step.receiver.kind != "optimizer" or not step.loops or step.site.args:
            continue
        loop = step.loops[-1]
        around = trace.within(step.loops[0])
        backward = [other for other in around if other.act == "backward" and loop in other.loops]
        if not backward or id(step.node) in told or _clears(around) or _made_inside(step):
            continue
        told.add(id(step.node))
        yield tell.found(
            "missing-zero-grad",
            step.site,
            chain=[
                tell.because(backward[0].node, "each backward adds to the gradients", backward[0].site.spot.file),
                tell.because(step.node, "the step uses their sum, and nothing in the loop clears it", step.site.spot.file),
            ],
            fixes=[Fix("call optimizer.zero_grad() once in each round, before backward")],
        )


def _clears(steps: list[Step]) -> bool:
    """Anything that may set gradients back, or that we cannot see into."""
    return any(step.act in ("zero_grad", "unknown") for step in steps) or any(
        _sets_grad_to_none(loop) for step in steps for loop in step.loops[:1]
    )


def _sets_grad_to_none(loop: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("grad", "zero_grad", "zero_") for node in ast.walk(loop)
    )


def _made_inside(step: Step) -> bool:
    return step.receiver is not None and step.receiver.loop != 0
