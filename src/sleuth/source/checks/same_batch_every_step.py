"""next(iter(loader)) in the training loop, with a loader that does not shuffle: always its first batch."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import loading, tell
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for first, loader in loading.first_batches(trace):
        if loading.keeps_order(loader):
            yield tell.found(
                "same-batch-every-step",
                first.site,
                certainty="certain",
                severity="error",
                chain=[
                    tell.because(loader, "the loader deals its batches in the same order each time"),
                    tell.because(first.node, "iter() starts it anew in every round", first.site.spot.file),
                ],
                fixes=[Fix("loop over the loader itself: for batch in loader")],
            )
