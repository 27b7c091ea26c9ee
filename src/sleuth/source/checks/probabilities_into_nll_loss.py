"""A negative log-likelihood that gets probabilities instead of their logarithms."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("nll_loss",)


def operation(site: Site) -> Finding | None:
    output = losses.prediction(site)
    made = None if output is None else made_by(output, "softmax", "sigmoid")
    if made is None:
        return None
    return tell.found(
        "probabilities-into-nll-loss",
        site,
        node=made.node,
        file=made.unit,
        chain=[
            tell.because(made, f"{made.op} gives probabilities, from 0 to 1"),
            tell.because(site.node, "the loss takes no logarithm: of a probability p it makes -p", site.spot.file),
        ],
        fixes=[_log_softmax(made)],
    )


def _log_softmax(made: Value) -> Fix:
    """`F.softmax` becomes `F.log_softmax`, `nn.Softmax` `nn.LogSoftmax`."""
    title = "use log_softmax in front of nll_loss, or cross_entropy on the raw scores"
    func = getattr(made.node, "func", None)
    name = getattr(func, "attr", "")
    new = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}.get(name)
    if new is None or made.unit is None or made.op != "softmax":
        return Fix(title)
    base = made.unit.source(func)[: -len(name)]
    return Fix(title, (tell.replace(made.unit, func, base + new),))
