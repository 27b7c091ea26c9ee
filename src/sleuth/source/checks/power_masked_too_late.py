"""x.pow(-0.5) whose infinities are set to 0 afterwards: the value is mended, the gradient is not."""

from __future__ import annotations

import math

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Assignment, Site
from sleuth.source.tell import Somewhere
from sleuth.source.values import Value, made_by

OPERATIONS = ("masked_fill",)


def operation(site: Site) -> Finding | None:
    if len(site.operands) < 2 or site.spot.without_grad:
        return None
    return _check(site, site.operands[0], site.operands[1])


def assignment(a: Assignment) -> Finding | None:
    index = getattr(a.target, "slice", None)
    if a.attribute or index is None or a.value.number() != 0 or a.spot.without_grad:
        return None
    return _check(a, a.base, a.index)


def _check(at: Somewhere, base: Value, mask: Value | None) -> Finding | None:
    inverse = _inverse(base)
    if inverse is None or mask is None or inverse.kind != "tensor" or inverse.grad is False or not _asks_for_inf(mask):
        return None
    sure = inverse.grad is True
    return tell.found(
        "power-masked-too-late",
        at,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(inverse, "inf where its argument is 0"),
            tell.because(at.node, "the infinity is replaced, but backwards 0 · inf is NaN", at.spot.file),
        ],
        fixes=[Fix("mask before the power: where(x > 0, x, 1).pow(-0.5), then set the masked ones to 0")],
    )


def _inverse(value: Value) -> Value | None:
    power = made_by(value, "pow", "rsqrt", "reciprocal", "div")
    if power is None:
        return None
    if power.op == "pow":
        exponent = power.inputs[1].number() if len(power.inputs) > 1 else None
        return power if exponent is not None and exponent < 0 else None
    if power.op == "div":
        return power if power.inputs and power.inputs[0].number() is not None else None
    return power


def _asks_for_inf(mask: Value) -> bool:
    if mask.op == "compare":
        return any(one.number() == math.inf for one in mask.inputs)
    return mask.op == "isnan"
