"""A negative log-likelihood that gets the raw output of a layer instead of log-probabilities."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = ("nll_loss",)


def operation(site: Site) -> Finding | None:
    output = losses.prediction(site)
    made = None if output is None else made_by(output, "linear", "conv", "relu", "leaky_relu", "tanh")
    if made is None:
        return None
    return tell.found(
        "logits-into-nll-loss",
        site,
        chain=[
            tell.because(made, "these are raw scores: no softmax ties them together"),
            tell.because(site.node, "the loss only picks the entry of the right class and negates it", site.spot.file),
        ],
        fixes=[Fix("use cross_entropy (CrossEntropyLoss), or end the network with log_softmax")],
    )
