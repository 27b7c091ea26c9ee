"""A binary cross-entropy on probabilities that gets the raw output of a layer."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("bce",)
# Their results leave 0 to 1, whatever the weights are. A tanh is there from −1 on.
_UNBOUNDED = ("linear", "conv", "batch_norm", "leaky_relu", "relu", "tanh", "log_softmax", "log_sigmoid")
_SAYS = {
    "linear": "a linear layer gives any number",
    "conv": "a convolution gives any number",
    "batch_norm": "a normalisation gives numbers around 0",
    "relu": "a ReLU gives numbers above 1",
    "tanh": "tanh gives numbers from -1 to 1",
    "log_softmax": "log-softmax gives numbers below 0",
    "log_sigmoid": "log-sigmoid gives numbers below 0",
}


def operation(site: Site) -> Finding | None:
    if not site.name.startswith("torch."):
        return None
    output = losses.prediction(site)
    made = None if output is None else made_by(output, *_UNBOUNDED)
    if made is None or not _trained(made):
        return None
    return tell.found(
        "logits-into-bce-loss",
        site,
        chain=[
            tell.because(made, _SAYS.get(made.op, "this activation gives numbers outside 0 to 1")),
            tell.because(site.node, "the loss takes its logarithm and needs 0 to 1", site.spot.file),
        ],
        fixes=[Fix("use binary_cross_entropy_with_logits (BCEWithLogitsLoss), which contains the sigmoid")],
    )


def _trained(made: Value) -> bool:
    """A convolution with a fixed kernel may be an average, which keeps to its range."""
    return made.op != "conv" or (bool(made.inputs) and made.inputs[-1].kind == "module")
