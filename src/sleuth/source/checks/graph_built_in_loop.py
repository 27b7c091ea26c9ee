"""TensorFlow 1: operations created inside the loop that runs the session."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import sessions, tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, ancestors


def trace(trace: Trace) -> Iterator[Finding]:
    told: set[int] = set()
    for step in trace.of("run", "eval", "minimize"):
        grown = _grown(step)
        if grown is None or id(grown.node) in told:
            continue
        told.add(id(grown.node))
        yield tell.found(
            "graph-built-in-loop",
            step.site,
            node=grown.node,
            file=grown.unit,
            chain=[
                tell.because(grown, "each round adds this operation to the graph"),
                tell.because(step.node, "and runs it; the graph never gets smaller", step.site.spot.file),
            ],
            fixes=[Fix("create the operation once, before the loop, and feed it through a placeholder or a variable")],
        )


def _grown(step: Step) -> Value | None:
    """Something that is run in a loop and was made in that loop, while the session is older."""
    loops = {id(loop) for loop in step.loops}
    if not loops or step.receiver is None:
        return None
    if step.act == "run":
        if not sessions.may_be_session(step.receiver) or step.receiver.loop in loops:
            return None
        return next((one for one in sessions.fetched(step) if _is_made_in(one, loops)), None)
    if step.act == "eval" and step.receiver.kind == "tensor":
        return step.receiver if _is_made_in(step.receiver, loops) else None
    return None


def _is_made_in(value: Value, loops: set[int]) -> bool:
    if value.loop not in loops or value.kind != "tensor" or sessions.initialises(value):
        return False
    return any(one.api.startswith("tensorflow.") for one in ancestors(value, most=30))
