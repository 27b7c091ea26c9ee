"""A step between zero_grad and backward, which finds no gradients."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import erased, tell
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for pair in erased.before_step(trace):
        if not pair.backward_comes_first:
            yield tell.found(
                "step-before-backward",
                pair.step.site,
                certainty="certain",
                severity="error",
                chain=[
                    tell.because(pair.zero.node, "zero_grad erases the gradients", pair.zero.site.spot.file),
                    tell.because(pair.step.node, "the step finds none", pair.step.site.spot.file),
                    tell.because(pair.backward.node, "backward comes only now", pair.backward.site.spot.file),
                ],
                fixes=[Fix("call zero_grad(), then backward(), then step()")],
            )
