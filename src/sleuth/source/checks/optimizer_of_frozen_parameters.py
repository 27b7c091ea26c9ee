"""An optimiser whose parameters were all frozen before, and stay so."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import holdings, tell
from sleuth.source.freezing import is_frozen
from sleuth.source.sites import Trace
from sleuth.source.values import Value


def trace(trace: Trace) -> Iterator[Finding]:
    frozen = [step.receiver for step in trace.of("freeze")]
    made = [step.receiver for step in trace.of("optimizer")]
    # What is given back its gradients somewhere, or grows, may learn at another time.
    if not frozen or trace.of("thaw", "add_param_group"):
        return
    told = set()
    for step in trace.of("step"):
        optimizer = step.receiver
        networks = holdings.of_optimizer(optimizer)
        if optimizer is None or optimizer not in made or id(optimizer) in told or not networks:
            continue
        if not all(network in frozen and is_frozen(network) for network in networks) or not _holds_only(optimizer):
            continue
        told.add(id(optimizer))
        yield tell.found(
            "optimizer-of-frozen-parameters",
            step.site,
            node=optimizer.node,
            file=optimizer.unit,
            chain=[
                tell.because(networks[0], "all parameters of this network are frozen"),
                tell.because(optimizer, "the optimiser is given these, and no others"),
                tell.because(step.node, "so its step changes nothing", step.site.spot.file),
            ],
            fixes=[Fix("give it the part that is to learn, or freeze less")],
        )


def _holds_only(optimizer: Value) -> bool:
    """Was it given the parameters of networks directly, and nothing else?"""
    given = optimizer.option("0", "params")
    return given is not None and given.op == "parameters"
