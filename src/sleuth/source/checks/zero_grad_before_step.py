"""Gradients erased after backward and before the step that should use them."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import erased, tell
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for pair in erased.before_step(trace):
        if pair.backward_comes_first:
            yield tell.found(
                "zero-grad-before-step",
                pair.zero.site,
                certainty="certain",
                severity="error",
                chain=[
                    tell.because(pair.backward.node, "backward fills the gradients", pair.backward.site.spot.file),
                    tell.because(pair.zero.node, "zero_grad erases them", pair.zero.site.spot.file),
                    tell.because(pair.step.node, "the step finds nothing to use", pair.step.site.spot.file),
                ],
                fixes=[Fix("move zero_grad() before backward(), or after step()")],
            )
