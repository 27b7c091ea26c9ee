"""A softmax over dimension 0 of a batch, whose result goes into a loss."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import heads, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors, made_by

OPERATIONS = ("cross_entropy", "nll_loss", "bce", "mse", "l1", "kl_div")


def operation(site: Site) -> Finding | None:
    output = losses.prediction(site)
    softmax = None if output is None else made_by(output, "softmax", "log_softmax")
    if softmax is None or not softmax.inputs:
        return None
    dimension = heads.dimension(softmax)
    if dimension is None or dimension.const != 0 or not _is_batch(softmax.inputs[0]):
        return None
    return tell.found(
        "softmax-over-batch",
        site,
        node=softmax.node,
        file=softmax.unit,
        chain=[
            tell.because(softmax, "dim=0 is the batch: the samples share a probability of 1, not the classes"),
            tell.because(site.node, "the loss takes the last dimension for the classes", site.spot.file),
        ],
        fixes=[Fix("write dim=-1 (classes last) or dim=1 (images, classes second)")],
    )


def _is_batch(scores: Value) -> bool:
    """More than one dimension: by its shape, or because a loader dealt what it was computed from."""
    if scores.shape is not None:
        return len(scores.shape) > 1
    before = list(ancestors(scores))
    if any(one.op == "squeeze" or (one.op == "index" and one.inputs[0].op == "batch") for one in before):
        # One sample of a batch, or a batch of one whose dimension is gone.
        return False
    return any(one.kind == "batch" for one in before)
