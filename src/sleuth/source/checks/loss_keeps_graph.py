"""A loss that was differentiated is added to a sum or list outside the loop, with its whole graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell, training
from sleuth.source.scopes import File
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

_ARITHMETIC = ("add", "sub", "mul", "div", "neg")


def trace(trace: Trace) -> Iterator[Finding]:
    differentiated = {id(loss): step for step in trace.of("backward") for loss in _losses(step)}
    for kept in trace.of("augmented", "append"):
        added = kept.site.args[0]
        backward = _backward_of(added, differentiated)
        if backward is None or kept.site.spot.without_grad or not _outlives_the_round(kept):
            continue
        file = kept.site.spot.file
        node = _operand(kept.node)
        edit = () if node is None else (_detached(file, node),)
        yield tell.found(
            "loss-keeps-graph",
            kept.site,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(backward.node, "this loss carries the graph it was computed by", backward.site.spot.file),
                tell.because(kept.node, "the sum keeps it, round after round", file),
            ],
            fixes=[Fix("add loss.detach() (or loss.item() for a number to print)", edit, safe=bool(edit))],
        )


def _losses(backward: Step) -> list[Value]:
    """The value that backward was called on, also inside scaler.scale(loss)."""
    loss = backward.receiver
    if loss is None or backward.site.keywords.get("inputs") is not None:
        return []
    if loss.kind not in ("tensor", "?") or not backward.loops:
        return []
    return [loss, *loss.inputs] if loss.op == "scale" else [loss]


def _backward_of(added: Value, differentiated: dict[int, Step], depth: int = 3) -> Step | None:
    if id(added) in differentiated:
        return differentiated[id(added)]
    if added.op in _ARITHMETIC and depth:
        return next((found for one in added.inputs if (found := _backward_of(one, differentiated, depth - 1))), None)
    return None


def _outlives_the_round(kept: Step) -> bool:
    """Was the sum or list begun before the innermost loop?"""
    loop, start = kept.loops[-1] if kept.loops else None, kept.receiver
    return (
        isinstance(loop, ast.For | ast.While)
        and start is not None
        and not training.made_in(start, loop, kept.site.spot.file)
    )


def _operand(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.AugAssign):
        return node.value
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        return node.value.right
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


def _detached(file: File, node: ast.expr) -> Edit:
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return tell.insert_after(file, node, ".detach()")
    return tell.replace(file, node, f"({file.source(node)}).detach()")
