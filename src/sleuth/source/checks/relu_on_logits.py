"""A ReLU behind the last layer, whose result a cross-entropy takes for scores."""

from __future__ import annotations

from sleuth.findings import Finding
from sleuth.source import heads, keras, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = (
    "cross_entropy",
    "nll_loss",
    "bce",
    "bce_with_logits",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
)
CALLS = ("module.compile",)
_SQUASHED = ("softmax", "log_softmax", "sigmoid")
# A ReLU behind one of these cuts the scores; behind others (a pool, a sum) it may be meant.
_LAYERS = ("linear", "conv", "matmul", "add", "batch_norm")


def operation(site: Site) -> Finding | None:
    scores = losses.prediction(site)
    return None if scores is None else _cut(site, scores, squashed=site.op in ("nll_loss", "bce"))


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    if compiled is None or compiled.loss not in keras.CROSS_ENTROPIES:
        return None
    return _cut(site, compiled.output, squashed=compiled.from_logits is False)


def _cut(site: Site, scores: Value, squashed: bool) -> Finding | None:
    """`squashed`: the loss expects what a softmax or sigmoid made; the ReLU then stands before that."""
    if squashed:
        inner = made_by(scores, *_SQUASHED)
        if inner is None or not inner.inputs:
            return None
        scores = inner.inputs[0]
    relu = made_by(scores, "relu")
    if relu is None or not relu.inputs or made_by(relu.inputs[0], *_LAYERS) is None:
        return None
    return tell.found(
        "relu-on-logits",
        site,
        node=relu.node,
        file=relu.unit,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(relu, "the ReLU sets every negative score to 0"),
            tell.because(site.node, "the loss takes them for scores, which need both signs", site.spot.file),
        ],
        fixes=[heads.without(relu, "end the network with the linear layer, without the ReLU")],
    )
