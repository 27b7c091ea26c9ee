"""An optimiser's state that is loaded before its network goes to the GPU: the two end up on different devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import holdings, tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

_MOVED_BY_HAND: Final = re.compile(r"\.state\.(?:values|items)\(|\.state\[")


def trace(trace: Trace) -> Iterator[Finding]:
    for position, load in enumerate(trace.steps):
        optimizer = load.receiver
        if load.act != "load_state_dict" or optimizer is None or optimizer.kind != "optimizer":
            continue
        networks, later = holdings.of_optimizer(optimizer), trace.steps[position + 1 :]
        moved = next((step for step in later if step.act == "move" and _to_a_gpu(step, networks)), None)
        if moved is None or _was_there(trace.steps[:position], networks) or not _runs_with(load, moved):
            continue
        steps = any(step.act == "step" and step.receiver is optimizer for step in later)
        if steps and not _MOVED_BY_HAND.search(load.site.spot.file.text):
            yield _found(load, moved)


def _to_a_gpu(step: Step, networks: list[Value]) -> bool:
    device = step.site.node.func.attr if step.site.node.func.attr == "cuda" else step.receiver and step.receiver.device
    return bool(device) and str(device).startswith("cuda") and any(one is step.receiver for one in networks)


def _was_there(before: list[Step], networks: list[Value]) -> bool:
    """Was the network moved once before? Then its parameters lie there already."""
    return any(step.act == "move" and any(one is step.receiver for one in networks) for step in before)


def _runs_with(load: Step, move: Step) -> bool:
    """Loading is often done on a condition (--resume); the move must follow whenever it is."""
    branch = move.site.spot.branch
    return load.site.spot.branch[: len(branch)] == branch


def _found(load: Step, moved: Step) -> Finding:
    return tell.found(
        "optimizer-state-left-on-cpu",
        load.site,
        chain=[
            tell.because(load.node, "the state is put where the parameters lie now: on the CPU", load.site.spot.file),
            tell.because(moved.node, "then the network moves, and the state stays", moved.site.spot.file),
        ],
        certainty="likely",
        severity="warning",
        fixes=[Fix("move the network first, then load the optimiser's state")],
    )
