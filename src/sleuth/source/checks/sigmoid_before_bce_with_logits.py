"""A sigmoid (or softmax) whose result goes into a binary cross-entropy that applies its own sigmoid."""

from __future__ import annotations

from sleuth.findings import Finding
from sleuth.source import heads, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = ("bce_with_logits",)
CALLS = ("torchvision.ops.sigmoid_focal_loss",)


def operation(site: Site) -> Finding | None:
    scores = losses.prediction(site)
    squashed = None if scores is None else made_by(scores, "sigmoid", "softmax")
    if squashed is None:
        return None
    return tell.found(
        "sigmoid-before-bce-with-logits",
        site,
        node=squashed.node,
        file=squashed.unit,
        title=None if squashed.op == "sigmoid" else "softmax in front of a loss that applies a sigmoid",
        chain=[
            tell.because(squashed, f"{squashed.op} turns the scores into values from 0 to 1"),
            tell.because(site.node, "the loss takes them for scores and applies a sigmoid to them", site.spot.file),
        ],
        fixes=[heads.without(squashed, f"give the raw scores to the loss; apply {squashed.op} only where it is shown")],
    )


call = operation
