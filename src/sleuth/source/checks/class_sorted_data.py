"""Training on data that are sorted by class, like an image folder, through a loader that does not shuffle."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding
from sleuth.source import loading, tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, ancestors


def trace(trace: Trace) -> Iterator[Finding]:
    for loop, loader in loading.learnt_from(trace):
        data = loader.option("dataset", "0")
        if data is None or not loading.is_sorted(data) or not loading.keeps_order(loader):
            continue
        if not _learns_the_labels(trace, loop):
            continue
        yield tell.found(
            "class-sorted-data",
            loop.site,
            node=loader.node,
            file=loader.unit,
            certainty="certain",
            severity="error",
            chain=[
                tell.because(data, "all samples of the first class come first, then those of the second …"),
                tell.because(loader, "the loader deals them in that order"),
                tell.because(loop.node, "and this loop learns from it", loop.site.spot.file),
            ],
            fixes=loading.shuffle_fix(loader),
        )


def _learns_the_labels(trace: Trace, loop: Step) -> bool:
    """Does the loss depend on the second part of the batch?"""
    losses = [step.receiver for step in trace.within(loop.node) if step.act in training.BACKWARD]
    return any(_is_label(one) for loss in losses if loss is not None for one in ancestors(loss))


def _is_label(value: Value) -> bool:
    return value.op == "batch" and len(value.inputs) == 2 and value.inputs[1].const == 1
