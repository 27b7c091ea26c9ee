"""A loop that calls backward and step on an optimiser and never clears the gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value


def trace(trace: Trace) -> Iterator[Finding]:
    told: set[int] = set()
    for step in trace.of("step"):
        optimizer = training.optimizer_of(step)
        if optimizer is None or id(step.node) in told:
            continue
        backward, loop = _repeated_backward(trace, step)
        if backward is None or loop is None or training.runs_once(loop):
            continue
        if training.made_in(optimizer, loop, step.site.spot.file) or _may_be_cleared(trace, step, optimizer):
            continue
        told.add(id(step.node))
        sure = optimizer.kind == "optimizer"
        yield tell.found(
            "missing-zero-grad",
            backward.site,
            certainty="certain" if sure else "likely",
            severity="error" if sure else "warning",
            chain=[
                tell.because(backward.node, "each backward adds to the gradients", backward.site.spot.file),
                tell.because(step.node, "the step uses their sum; nothing in the loop clears it", step.site.spot.file),
            ],
            fixes=[_fix(backward, step)],
        )


def _repeated_backward(trace: Trace, step: Step) -> tuple[Step | None, ast.AST | None]:
    """The last backward before the step in the innermost loop that repeats both."""
    best: tuple[Step | None, ast.AST | None] = (None, None)
    depth = -1
    for other in trace.of(*training.BACKWARD):
        loop = None if training.excludes(other, step) else training.common_loop(other, step)
        if loop is not None and step.loops.index(loop) >= depth:
            best, depth = (other, loop), step.loops.index(loop)
        if other.site.spot is step.site.spot:
            break
    return best


def _may_be_cleared(trace: Trace, step: Step, optimizer: Value) -> bool:
    """Anything in the loops that sets its gradients back, or that we cannot see into."""
    for other in trace.within(step.loops[0]):
        if other.act in ("unknown", "grad", "zero_"):
            return True
        if other.act == "zero_grad" and not _is_of_another(other.receiver, optimizer):
            return True
    return any(_names_without_calling(node) for node in ast.walk(step.loops[0]))


def _names_without_calling(node: ast.AST) -> bool:
    """`optimizer.zero_grad` without parentheses is a diagnosis of its own."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == "zero_grad"


def _is_of_another(cleared: Value | None, optimizer: Value) -> bool:
    return (
        cleared is not None
        and cleared is not optimizer
        and training.is_known(cleared)
        and training.is_known(optimizer)
        and not training.is_same(training.network_of(cleared), training.network_of(optimizer))
    )


def _fix(backward: Step, step: Step) -> Fix:
    title = "call zero_grad() once in each round, before backward"
    file, func = step.site.spot.file, getattr(step.node, "func", None)
    same_place = backward.site.spot.file is file and backward.loops == step.loops
    scaled = step.receiver is not None and step.receiver.kind == "scaler"
    if (
        not same_place
        or scaled
        or not isinstance(func, ast.Attribute)
        or backward.node.col_offset != step.node.col_offset
    ):
        return Fix(title)
    # Both stand at the start of statements of one indentation, so a line above the first is in the same block.
    if file.lines[backward.node.lineno - 1][: backward.node.col_offset].strip():
        return Fix(title)
    line = f"{file.source(func.value)}.zero_grad()"
    return Fix(title, (tell.insert_statement_before(file, backward.node, line),))
