"""eval() inside the loop that trains, and train() nowhere in it: the second round trains in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value


def trace(trace: Trace) -> Iterator[Finding]:
    for put in trace.of("eval"):
        network = put.receiver
        if network is None or network.kind not in ("module", "instance"):
            continue
        step = next((one for one in trace.of("step") if _trains(one, network) and training.common_loop(one, put)), None)
        layer = None if step is None else training.behaves_differently(network)
        if step is None or layer is None or not _evaluates_next(trace, put, network):
            continue
        # A train() in any loop around the steps, or something unknown there, may set it back.
        if any(other.act in ("train", "unknown") for other in trace.within(step.loops[0])):
            continue
        name = layer.api.rpartition(".")[2]
        yield tell.found(
            "model-left-in-eval",
            put.site,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(layer, f"the network has {name}, which works differently in evaluation mode"),
                tell.because(put.node, "eval() is called in every round of the loop", put.site.spot.file),
                tell.because(step.node, "the training of the next round goes on without train()", step.site.spot.file),
            ],
            fixes=[Fix("call train() on the network at the top of each round, before its training part")],
        )


def _trains(step: Step, network: Value) -> bool:
    optimizer = training.optimizer_of(step)
    return optimizer is not None and training.network_of(optimizer) is network


def _evaluates_next(trace: Trace, put: Step, network: Value) -> bool:
    """Is the network used for an evaluation after eval(), before anything is trained?"""
    for step in trace.steps[trace.steps.index(put) + 1 :]:
        if step.act in training.BACKWARD:
            return False
        if step.act == "forward" and step.receiver is network:
            return step.site.spot.without_grad or not _with_backward(trace, step)
    return False


def _with_backward(trace: Trace, forward: Step) -> bool:
    return bool(forward.loops) and any(one.act in training.BACKWARD for one in trace.within(forward.loops[-1]))
