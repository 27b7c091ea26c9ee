"""A schedule counted in batches that is stepped once an epoch, so that the rate hardly moves."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, ancestors


def trace(trace: Trace) -> Iterator[Finding]:
    for step in trace.of("step"):
        made = step.receiver
        if made is None or not training.is_plain_scheduler_step(step) or not step.loops or not _counts_batches(made):
            continue
        moved = next((one for one in trace.of("step") if _is_deeper(one, step)), None)
        if moved is None or any(_is_beside(one, step) for one in trace.of("step")):
            continue
        yield tell.found(
            "scheduler-stepped-per-epoch",
            step.site,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(made, "its length is counted in batches"),
                tell.because(moved.node, "the optimiser steps at every batch", moved.site.spot.file),
                tell.because(step.node, "the scheduler steps once for all of them", step.site.spot.file),
            ],
            fixes=[Fix("step it after every optimizer.step(), inside the loop over the batches")],
        )


def _counts_batches(made: Value) -> bool:
    """Was the number of batches, `len(loader)`, multiplied into its length?"""
    name = made.api.rpartition(".")[2]
    if name == "OneCycleLR":
        given = (made.option("steps_per_epoch", "4"), made.option("total_steps", "2"))
    elif name.startswith("get_") and "schedule" in name:
        given = (made.option("num_training_steps", "2"), None)
    else:
        return False
    return any(one is not None and _is_of_batches(one) for one in given)


def _is_of_batches(length: Value) -> bool:
    return any(
        one.op == "len" and one.inputs and (one.inputs[0].kind == "loader" or "loader" in one.inputs[0].op)
        for one in ancestors(length, most=30)
    )


def _is_deeper(moved: Step, scheduled: Step) -> bool:
    depth = len(scheduled.loops)
    return (
        training.optimizer_of(moved) is not None and len(moved.loops) > depth and moved.loops[:depth] == scheduled.loops
    )


def _is_beside(moved: Step, scheduled: Step) -> bool:
    """An optimiser or the same scheduler stepped elsewhere: another protocol than this one."""
    if moved is scheduled:
        return False
    same = moved.receiver is scheduled.receiver
    return same or (training.optimizer_of(moved) is not None and moved.loops == scheduled.loops)
