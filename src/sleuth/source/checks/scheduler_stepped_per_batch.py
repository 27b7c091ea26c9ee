"""A schedule counted in epochs that is stepped inside the loop over batches."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# A schedule that is through within so few batches was meant for epochs: people who count batches count thousands.
_FEW_BATCHES = 300
# The rate is as good as gone at this part of it.
_GONE = 0.01


def trace(trace: Trace) -> Iterator[Finding]:
    for step in trace.of("step"):
        if not training.is_plain_scheduler_step(step) or not _is_batch_loop(step.loops):
            continue
        moved = next((one for one in trace.of("step") if _in_the_same_round(one, step)), None)
        why = _counted_in_epochs(trace, step)
        if moved is None or why is None:
            continue
        made = step.receiver
        yield tell.found(
            "scheduler-stepped-per-batch",
            step.site,
            certainty="likely",
            severity="warning",
            chain=[
                *([] if made is None else [tell.because(made, why)]),
                tell.because(step.node, "it is stepped after every batch", step.site.spot.file),
            ],
            evidence=[Evidence("schedule", why)],
            fixes=[Fix("step it once an epoch, after the loop over the batches")],
        )


def _is_batch_loop(loops: tuple[ast.AST, ...]) -> bool:
    """A loop over things rather than numbers, inside another; or any loop inside one over epochs."""
    if len(loops) < 2:
        return False
    source, outer = getattr(loops[-1], "iter", None), getattr(loops[-2], "target", None)
    if isinstance(outer, ast.Name) and "epoch" in outer.id.lower():
        return True
    return source is not None and not (
        isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
    )


def _in_the_same_round(moved: Step, scheduled: Step) -> bool:
    return (
        training.optimizer_of(moved) is not None
        and moved.loops == scheduled.loops
        and moved.site.spot.branch == scheduled.site.spot.branch
    )


def _counted_in_epochs(trace: Trace, step: Step) -> str | None:
    made = step.receiver
    if made is None:
        return None
    kind = made.api.rpartition(".")[2]
    if kind == "CosineAnnealingLR":
        length = made.option("1", "T_max")
        rounds = _rounds(trace, step.loops[-2])
        return "its length is the number of epochs" if _same_length(length, rounds) else None
    if kind == "MultiStepLR":
        milestones = made.option("1", "milestones")
        last = milestones.parts[-1].number() if milestones is not None and milestones.parts else None
        return f"its last milestone is {last:g}" if last is not None and last <= _FEW_BATCHES else None
    if kind in ("StepLR", "ExponentialLR"):
        return _soon_gone(made, kind)
    return None


def _soon_gone(made: Value, kind: str) -> str | None:
    size = made.option("1", "step_size") if kind == "StepLR" else None
    factor = made.option("2", "gamma") if kind == "StepLR" else made.option("1", "gamma")
    every = size.number() if size is not None else 1 if kind == "ExponentialLR" else None
    gamma = 0.1 if factor is None else factor.number()
    if every is None or gamma is None or not 0 < gamma < 1:
        return None
    batches = math.ceil(every * math.log(_GONE) / math.log(gamma))
    return f"its rate falls to a hundredth in {batches} steps" if batches <= _FEW_BATCHES else None


def _rounds(trace: Trace, loop: ast.AST) -> Value | None:
    """How many rounds a loop over a range has."""
    told = next((one for one in trace.of("loop") if one.node is loop), None)
    source = None if told is None else told.receiver
    if source is None or source.op != "range" or len(source.inputs) not in (1, 2):
        return None
    return source.inputs[-1]


def _same_length(length: Value | None, rounds: Value | None) -> bool:
    if length is None or rounds is None:
        return False
    # range(1, epochs + 1) has as many rounds as range(epochs).
    if rounds.op == "add" and any(one.number() == 1 for one in rounds.inputs):
        rounds = next(one for one in rounds.inputs if one.number() != 1)
    return training.is_same(length, rounds)
