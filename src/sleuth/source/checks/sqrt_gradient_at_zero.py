"""A square root whose argument can be exactly 0 and that a gradient flows through."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("sqrt", "pow")


def operation(site: Site) -> Finding | None:
    if not limits.is_root(site) or not limits.may_be_trained(site):
        return None
    inner = site.operands[0]
    slope = _slope(inner)
    if slope is not None:
        steps = all(made_by(one, "sub") is not None for one in slope)
        return _found(site, inner, "0 where the image is flat", sure=steps and site.result.grad is True)
    loss = made_by(inner, "mse")
    # `abs(x) ** 0.5` is told as a power.
    magnitude = made_by(inner, "abs") if site.op == "sqrt" else None
    if loss is not None:
        return _found(site, loss, "0 as soon as a batch is predicted exactly", sure=False)
    if magnitude is None or not magnitude.inputs:
        return None
    reached = limits.zero(magnitude.inputs[0])
    return _found(site, magnitude, "0 wherever its argument is", sure=reached is not None and site.result.grad is True)


def _slope(value: Value) -> tuple[Value, Value] | None:
    """The dx and dy of `dx ** 2 + dy ** 2`."""
    total = made_by(value, "add")
    if total is None or len(total.inputs) < 2 or (total.lo is not None and total.lo > 0):
        return None
    dx, dy = (limits.squared(one) for one in total.inputs[:2])
    return None if dx is None or dy is None else (dx, dy)


def _found(site: Site, source: Value, why: str, *, sure: bool) -> Finding:
    return tell.found(
        "sqrt-gradient-at-zero",
        site,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(source, why),
            tell.because(site.node, "the derivative of a root at 0 is infinite", site.spot.file),
        ],
        fixes=[Fix("put an epsilon inside the root: sqrt(x + 1e-12)")],
    )
