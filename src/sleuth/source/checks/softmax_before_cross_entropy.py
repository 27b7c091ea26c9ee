"""A softmax whose result goes into a cross-entropy that applies its own."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = (
    "cross_entropy",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
)


def operation(site: Site) -> Finding | None:
    scores = site.operand(0, "input", "logits")
    if site.name.startswith(("tensorflow.", "keras.")):
        scores = site.keywords.get("logits")
    softmax = None if scores is None else made_by(scores, "softmax")
    if softmax is None or scores is None:
        return None
    return tell.found(
        "softmax-before-cross-entropy",
        site,
        node=softmax.node,
        file=softmax.unit,
        chain=[
            tell.because(softmax, "softmax turns the scores into probabilities"),
            tell.because(site.node, "the cross-entropy takes them for scores and applies softmax again", site.spot.file),
        ],
        fixes=[Fix("give the raw scores to the loss; apply softmax only where probabilities are shown")],
    )
