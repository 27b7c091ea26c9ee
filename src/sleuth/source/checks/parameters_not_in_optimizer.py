"""A layer put into the network after the optimiser was made: no optimiser holds its parameters."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import holdings, tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value
from sleuth.source.weights import holds_weights


def trace(trace: Trace) -> Iterator[Finding]:
    for position, put in enumerate(trace.steps):
        if put.act != "layer" or put.receiver is None or not put.site.args:
            continue
        layer, later = put.site.args[0], trace.steps[position + 1 :]
        if not holds_weights(layer) or any(_may_hold(step, put.receiver, layer) for step in later):
            continue
        optimizer = _holder(trace.steps[:position], put.receiver)
        step = next((one for one in later if one.act == "step" and one.receiver is optimizer), None)
        if optimizer is not None and step is not None and layer.grad is not False and not _held(trace, layer):
            yield _found(put, step, layer, optimizer)


def _may_hold(step: Step, network: Value, layer: Value) -> bool:
    """Does a later act give the layer to an optimiser, as far as we can tell?"""
    if step.act == "add_param_group":
        return True
    held = holdings.of_optimizer(step.receiver) if step.act == "optimizer" else [Value()]
    return not held or any(holdings.shared(one, network) or one is layer for one in held)


def _holder(before: list[Step], network: Value) -> Value | None:
    """The optimiser that was given this network's parameters, or those of a part of it."""
    for step in reversed(before):
        if step.act == "optimizer" and any(
            holdings.shared(one, network) for one in holdings.of_optimizer(step.receiver)
        ):
            return step.receiver
    return None


def _held(trace: Trace, layer: Value) -> bool:
    """Was the layer itself given to an optimiser, before it was put here?"""
    return any(one is layer for step in trace.of("optimizer") for one in holdings.of_optimizer(step.receiver))


def _found(put: Step, step: Step, layer: Value, optimizer: Value) -> Finding:
    return tell.found(
        "parameters-not-in-optimizer",
        put.site,
        node=layer.node,
        file=layer.unit,
        title="this layer comes after the optimiser, which does not hold it",
        chain=[
            tell.because(optimizer, "the optimiser is given the parameters the network has at this moment"),
            tell.because(put.node, "here a new layer is put into the network", put.site.spot.file),
            tell.because(step.node, "the step updates the old ones", step.site.spot.file),
        ],
        fixes=[Fix("make the optimiser last, when the network is complete; or call optimizer.add_param_group")],
    )
