"""A test or validation set whose transform changes the samples at random."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import datasets, tell
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for step in trace.of("dataset"):
        data = step.site.result
        transform = datasets.transform_of(data) if datasets.part_of(data) == "test" else None
        parts = None if transform is None else datasets.steps_of(transform)
        random = next((one for one in parts or () if datasets.is_random(one)), None)
        if random is None or "tta" in step.site.spot.file.text.lower():
            continue
        name = random.api.rpartition(".")[2]
        yield tell.found(
            "augmentation-on-test-data",
            step.site,
            title=f"{name} changes the test samples at random",
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(random, f"{name} draws anew for each sample"),
                tell.because(step.node, "these are data for a test or a validation", step.site.spot.file),
            ],
            fixes=[Fix("give the test data a transform of their own, without the random steps")],
        )
