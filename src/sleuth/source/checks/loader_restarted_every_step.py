"""next(iter(loader)) in the training loop: the loader and its workers are started for a single batch each time."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import loading, tell
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for first, loader in loading.first_batches(trace):
        if not loading.keeps_order(loader):
            workers = loader.option("num_workers", "5")
            slow = workers is not None and bool(workers.number())
            yield tell.found(
                "loader-restarted-every-step",
                first.site,
                certainty="likely" if slow else "hint",
                severity="warning" if slow else "note",
                chain=[
                    tell.because(first.node, "iter() shuffles and starts anew in every round", first.site.spot.file)
                ],
                fixes=[Fix("loop over the loader itself, or make the iterator once and call next() on it")],
            )
