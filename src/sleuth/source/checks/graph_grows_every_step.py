"""A value with gradients that each round hands to the next: backward runs through all earlier rounds."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

_DEEPEST = 40


def trace(trace: Trace) -> Iterator[Finding]:
    told: set[int] = set()
    for carried in trace.of("carried"):
        old, new = carried.receiver, carried.site.args[0]
        inside = trace.within(carried.node)
        if old is None or any(step.act == "unknown" for step in inside) or not _surely_from(new, old):
            continue
        if training.made_in(old, carried.node, carried.site.spot.file):
            continue
        for backward in inside:
            if id(backward.node) in told or backward.act != "backward":
                continue
            if _runs_each_round(backward, carried) and _uses(backward, old):
                told.add(id(backward.node))
                yield _told(backward, new)


def _runs_each_round(backward: Step, carried: Step) -> bool:
    return backward.loops[-1:] == (carried.node,) and len(backward.site.spot.branch) <= len(carried.site.spot.branch)


def _uses(backward: Step, old: Value) -> bool:
    return backward.receiver is not None and _surely_from(backward.receiver, old)


def _surely_from(value: Value, source: Value, depth: int = _DEEPEST, seen: dict[int, bool] | None = None) -> bool:
    """Was it computed from the source on every branch, with nothing between that stops gradients or is unknown?"""
    seen = {} if seen is None else seen
    if value is source:
        return True
    if id(value) in seen or depth == 0 or value.grad is False:
        return seen.get(id(value), False)
    seen[id(value)] = False
    if value.op == "call" or value.op.startswith(("api:", "call:")):
        return False
    every = all if value.op == "phi" else any
    seen[id(value)] = every(_surely_from(one, source, depth - 1, seen) for one in value.inputs)
    return seen[id(value)]


def _told(backward: Step, new: Value) -> Finding:
    retained = [*backward.site.args[1:2], *filter(None, [backward.site.keywords.get("retain_graph")])]
    kept = any(one.const is True for one in retained)
    outcome = (
        "so backward goes through all earlier rounds" if kept else "so the second backward fails: its graph is gone"
    )
    return tell.found(
        "graph-grows-every-step",
        backward.site,
        title=None if kept else "backward runs through the graph of the round before, which is gone",
        certainty="likely" if kept else "certain",
        severity="warning" if kept else "error",
        chain=[
            tell.because(new, "this goes from one round to the next with the graph it was computed by"),
            tell.because(backward.node, outcome, backward.site.spot.file),
        ],
        fixes=[Fix("detach() what is carried over, at the start of each round")],
    )
