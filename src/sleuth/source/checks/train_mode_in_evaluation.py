"""An evaluation loop over a trained network with dropout or BatchNorm that nothing ever put into eval()."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sleuth.findings import Finding, Fix, Link
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# Other ways to leave training mode, spelled somewhere in the file.
_ANOTHER_WAY = re.compile(r"\.eval\b|\.train\(\s*\w|\.training\b|set_mode|training_mode")


def trace(trace: Trace) -> Iterator[Finding]:
    if any(step.act in ("eval", "unknown") for step in trace.steps):
        return
    told: set[int] = set()
    for forward in trace.of("forward"):
        network = forward.receiver
        if network is None or id(network) in told or not forward.site.spot.without_grad:
            continue
        layer = training.behaves_differently(network)
        prepared = _prepared(trace, forward, network)
        if layer is None or prepared is None or not _is_evaluation(trace, forward):
            continue
        if any(_ANOTHER_WAY.search(file.text) for file in {trace.file, forward.site.spot.file}):
            continue
        told.add(id(network))
        name = layer.api.rpartition(".")[2]
        yield tell.found(
            "train-mode-in-evaluation",
            forward.site,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(layer, f"the network has {name}, which works differently in training mode"),
                prepared,
                tell.because(forward.node, "it is evaluated with no eval() anywhere before", forward.site.spot.file),
            ],
            fixes=[Fix("call eval() on the network before the evaluation, and train() after it")],
        )


def _prepared(trace: Trace, forward: Step, network: Value) -> Link | None:
    """That it was trained, or its weights loaded, before the evaluation."""
    for step in trace.steps:
        if step is forward:
            return None
        optimizer = training.optimizer_of(step)
        if optimizer is not None and training.network_of(optimizer) is network:
            return tell.because(step.node, "it is trained here", step.site.spot.file)
        if step.act == "load_state_dict" and step.receiver is network:
            return tell.because(step.node, "its weights are loaded here", step.site.spot.file)
    return None


def _is_evaluation(trace: Trace, forward: Step) -> bool:
    """A loop of its own over data: not a pass inside the training step, a rollout, or the same input many times."""
    if not forward.loops or not forward.site.args:
        return False
    loop = forward.loops[-1]
    if any(other.act in (*training.BACKWARD, "step") for other in trace.within(loop)):
        return False
    return training.depends_on_round(forward.site.args[0], loop, forward.site.spot.file)
