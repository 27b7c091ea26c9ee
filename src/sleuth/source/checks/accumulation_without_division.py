"""Gradients of several batches added up before a step, with a loss that is a mean over one batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.operations import LOSSES
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value


def trace(trace: Trace) -> Iterator[Finding]:
    told: set[int] = set()
    for step in trace.of("step"):
        if training.optimizer_of(step) is None or not _every_few_rounds(step):
            continue
        around = [one for one in trace.of("step") if one.loops == step.loops and training.optimizer_of(one) is not None]
        if any(one.site.spot.branch != step.site.spot.branch for one in around):
            continue
        for backward in trace.of("backward"):
            loss = backward.receiver
            always = backward.loops == step.loops and training.implies(step, backward)
            if not always or loss is None or training.implies(backward, step) or id(backward.node) in told:
                continue
            mean = _mean_loss(loss)
            if mean is None:
                continue
            told.add(id(backward.node))
            yield tell.found(
                "accumulation-without-division",
                backward.site,
                certainty="hint",
                severity="note",
                chain=[
                    tell.because(mean, "this loss is a mean over one batch"),
                    tell.because(step.node, "the step uses the sum over several", step.site.spot.file),
                ],
                fixes=[Fix("divide the loss by the number of batches between two steps")],
            )


def _every_few_rounds(step: Step) -> bool:
    """Does the step stand under a condition like `(i + 1) % steps == 0`?"""
    tests = step.site.spot.tests[-1:]
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for test in tests for node in ast.walk(test)
    )


def _mean_loss(loss: Value) -> Value | None:
    if loss.op == "scale" and loss.inputs:
        loss = loss.inputs[0]
    reduction = loss.option("reduction")
    if loss.op not in LOSSES or (reduction is not None and reduction.const != "mean"):
        return None
    return loss
