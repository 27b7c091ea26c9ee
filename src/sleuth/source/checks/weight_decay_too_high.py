"""A weight decay that shrinks the weights faster than a gradient can hold them up."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import hyperparameters, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = tuple(name for name, where in hyperparameters.OPTIMIZERS.items() if "decay" in where)
# The part of each weight that is taken away at every step. Usual settings take less than a thousandth; a hundredth
# halves the weights in 70 steps.
_SHRINKS_TOO_FAST = 0.01
# Adam divides the decay by the size of the gradient: what counts is whether it drowns the loss's own gradient.
_DROWNS_THE_GRADIENT = 0.5


def call(site: Site) -> Finding | None:
    optimizer = site.result
    decay = hyperparameters.number(optimizer, "decay")
    if decay is None or decay <= 0:
        return None
    shrinks = _shrinks(optimizer, decay)
    if shrinks is None:
        too_high = decay >= _DROWNS_THE_GRADIENT and not optimizer.api.endswith("AdamW")
    else:
        too_high = shrinks >= _SHRINKS_TOO_FAST
    if not too_high:
        return None
    part = f"; each step takes {shrinks:.0%} off every weight" if shrinks is not None and shrinks < 1 else ""
    return tell.found(
        "weight-decay-too-high",
        site,
        title=f"a weight decay of {decay:g} is too high{part}",
        certainty="likely",
        severity="warning",
        evidence=[Evidence("weight decay", decay)],
        fixes=[Fix("start at 0.0001 (0.01 for AdamW)")],
    )


def _shrinks(optimizer: Value, decay: float) -> float | None:
    """The part taken off at every step, where the rate is known and the decay acts by itself."""
    rate = hyperparameters.number(optimizer, "rate")
    kind = optimizer.api.rpartition(".")[2]
    if rate is None or rate <= 0 or kind not in ("SGD", "AdamW"):
        return None
    momentum = (hyperparameters.number(optimizer, "momentum") or 0.0) if kind == "SGD" else 0.0
    return rate * decay / (1 - momentum) if 0 <= momentum < 1 else None
