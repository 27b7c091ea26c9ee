"""Two optimisers that hold the same network, or one a part of the other's, and step on the same gradients."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import holdings, tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# What happens to gradients between two steps: then the second has its own.
_NEW_GRADIENTS = ("backward", "zero_grad", "manual_backward", "unknown", "grad")


def trace(trace: Trace) -> Iterator[Finding]:
    before: Step | None = None
    told = set()
    for step in trace.steps:
        if step.act in _NEW_GRADIENTS:
            before = None
        if step.act != "step" or step.receiver is None or step.receiver.kind != "optimizer":
            continue
        if before is not None and before.receiver is not step.receiver and _both_run(before, step):
            shared = _shared(before.receiver, step.receiver)
            if shared is not None and id(step.receiver) not in told:
                told.add(id(step.receiver))
                yield _found(before, step, shared)
        before = step


def _both_run(one: Step, other: Step) -> bool:
    return one.site.spot.branch == other.site.spot.branch and one.loops == other.loops


def _shared(one: Value | None, other: Value | None) -> Value | None:
    """A network whose parameters both hold."""
    pairs = ((a, b) for a in holdings.of_optimizer(one) for b in holdings.of_optimizer(other))
    return next((a for a, b in pairs if holdings.shared(a, b)), None)


def _found(before: Step, step: Step, shared: Value) -> Finding:
    second = step.receiver or shared
    return tell.found(
        "two-optimizers-one-parameter",
        step.site,
        node=second.node,
        file=second.unit,
        chain=[
            tell.because(shared, "the parameters of this network"),
            tell.because(before.receiver or shared, "are held by this optimiser"),
            tell.because(second, "and by this one"),
            tell.because(step.node, "both step, with no backward between them", step.site.spot.file),
        ],
        fixes=[Fix("give each parameter one optimiser; different rates are what parameter groups are for")],
    )
