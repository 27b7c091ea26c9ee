"""A product, sum or power that leaves the range of float32 although every input is in range."""

from __future__ import annotations

import torch

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict
from sleuth.live.trace import Op

FALLBACK = True

_LAYERS = {"addmm", "mm", "bmm", "convolution", "matmul", "mul"}
# This many layers in a row that each multiply the range are a matter of initialisation or missing normalisation.
_DEEP = 5
_GROWS = 2.0


def overflowed(birth: Birth) -> bool:
    """Float64 holds the result of the same operation on the same inputs."""
    if any(not operand.numbers.finite for operand in birth.op.operands):
        return False
    exact = birth.recomputed(torch.float64)
    if exact is None:
        return bool(birth.op.output.infinite) and _largest(birth) > 1e15
    return bool(torch.isfinite(exact).all())


def check(birth: Birth) -> Verdict | None:
    if not overflowed(birth):
        return None
    layers = _growing_layers(birth.op)
    deep = layers >= _DEEP
    advice = (
        Fix("initialise for the depth: nn.init.kaiming_normal_ or xavier_uniform_, and normalise between the layers"),
        Fix("check the scale of the inputs"),
    )
    return Verdict(
        root_cause="model-configuration" if deep else None,
        evidence=(Evidence("largest input", _largest(birth)), Evidence("layers that grow", layers)),
        fixes=advice
        if deep
        else (
            Fix("scale the operands down before this operation, or compute it in log space or float64"),
            Fix("normalise the inputs: values in the thousands overflow quickly once squared or multiplied"),
        ),
        culprit=_largest_operand(birth),
    )


def _largest(birth: Birth) -> float:
    return max((operand.numbers.magnitude for operand in birth.op.operands), default=0.0)


def _largest_operand(birth: Birth) -> int:
    operands = birth.op.operands
    return max(range(len(operands)), key=lambda i: operands[i].numbers.magnitude, default=0)


def _growing_layers(op: Op) -> int:
    """How many layers in a row, ending here, multiplied the range of what they were given."""
    count = 0
    current: Op | None = op
    while current is not None:
        makers = [o.maker for o in current.operands if o.maker is not None]
        before = max(makers, key=lambda maker: maker.output.magnitude, default=None)
        if before is not None and current.name in _LAYERS and before.output.magnitude > 0:
            grown = current.output.magnitude / before.output.magnitude if current.output.finite else _GROWS
            if grown < _GROWS:
                return count
            count += 1
        current = before
    return count
