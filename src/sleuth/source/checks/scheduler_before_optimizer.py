"""scheduler.step() in a round before the optimiser has stepped at all: the first value of the schedule is skipped."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace


def trace(trace: Trace) -> Iterator[Finding]:
    moved: list[Step] = []
    for step in trace.of("step", "unknown"):
        if step.act == "unknown":
            return
        if training.optimizer_of(step) is not None or (step.receiver is not None and step.receiver.kind == "scaler"):
            moved.append(step)
        elif training.is_plain_scheduler_step(step) and step.loops:
            late = _first_step_after(trace, step)
            if late is not None and not any(_is_other(one, step) for one in moved):
                yield _told(step, late)


def _is_other(moved: Step, scheduled: Step) -> bool:
    """Has the optimiser, or one that may be it, stepped already?"""
    optimizer = None if scheduled.receiver is None else scheduled.receiver.option("0", "optimizer")
    mine = training.optimizer_of(moved)
    return mine is None or optimizer is None or not training.is_known(mine) or mine is optimizer


def _first_step_after(trace: Trace, scheduled: Step) -> Step | None:
    """The optimiser's step in the same loop, if it comes after the scheduler's in every round."""
    optimizer = None if scheduled.receiver is None else scheduled.receiver.option("0", "optimizer")
    for step in trace.within(scheduled.loops[-1]):
        if step.act == "step" and optimizer is not None and training.optimizer_of(step) is optimizer:
            # A GradScaler may skip the first steps, so that the order cannot be told.
            scaled = step.receiver is not None and step.receiver.kind == "scaler"
            return step if not scaled and training.implies(step, scheduled) else None
    return None


def _told(scheduled: Step, step: Step) -> Finding:
    return tell.found(
        "scheduler-before-optimizer",
        scheduled.site,
        certainty="certain",
        severity="warning",
        chain=[
            tell.because(scheduled.node, "the scheduler moves on to its second value", scheduled.site.spot.file),
            tell.because(step.node, "only then the optimiser makes its first step", step.site.spot.file),
        ],
        fixes=[Fix("call scheduler.step() after optimizer.step(), at the end of the round")],
    )
