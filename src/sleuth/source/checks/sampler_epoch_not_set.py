"""A DistributedSampler whose epochs are looped over and that is never told which epoch it is."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import loading, tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, origins

_SAMPLERS = ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler")


def trace(trace: Trace) -> Iterator[Finding]:
    if any(step.act in ("set_epoch", "unknown") for step in trace.steps) or "set_epoch" in trace.file.text:
        return
    told: set[int] = set()
    for loop, loader in loading.loops_over_loaders(trace):
        sampler = _distributed(loader)
        if sampler is None or id(loader) in told or not _trains_for_epochs(trace, loop):
            continue
        told.add(id(loader))
        yield tell.found(
            "sampler-epoch-not-set",
            loop.site,
            node=loader.node,
            file=loader.unit,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(sampler, "the order depends on the seed and the epoch number, which stays 0"),
                tell.because(loop.node, "the loader is gone through once in each epoch", loop.site.spot.file),
            ],
            fixes=[Fix("call sampler.set_epoch(epoch) at the top of the loop over epochs")],
        )


def _distributed(loader: Value) -> Value | None:
    """The sampler, if it is a distributed one that shuffles (or none at all, on another branch)."""
    given = loader.option("sampler", "3")
    if given is None:
        return None
    found = None
    for one in origins(given):
        if one.api in _SAMPLERS:
            shuffle = one.option("3", "shuffle")
            if shuffle is not None and shuffle.const is not True:
                return None
            found = one
        elif one.kind != "none":
            return None
    return found


def _trains_for_epochs(trace: Trace, loop: Step) -> bool:
    return len(loop.loops) > 1 and any(step.act in training.BACKWARD for step in trace.within(loop.node))
