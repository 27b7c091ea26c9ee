"""A softmax whose result goes into a cross-entropy that applies its own."""

from __future__ import annotations

from sleuth.findings import Finding
from sleuth.source import heads, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = (
    "cross_entropy",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
    "nll_loss",
)


def operation(site: Site) -> Finding | None:
    scores = losses.prediction(site)
    if site.op == "nll_loss" and scores is not None:
        # With log_softmax it is a cross-entropy in two steps.
        second = made_by(scores, "log_softmax")
        scores = second.inputs[0] if second is not None and second.inputs else None
    softmax = None if scores is None else made_by(scores, "softmax")
    if softmax is None:
        return None
    return tell.found(
        "softmax-before-cross-entropy",
        site,
        node=softmax.node,
        file=softmax.unit,
        chain=[
            tell.because(softmax, "softmax turns the scores into probabilities"),
            tell.because(site.node, "the loss takes them for scores and applies softmax again", site.spot.file),
        ],
        fixes=[heads.without(softmax, "give the raw scores to the loss; apply softmax only where it is shown")],
    )
