"""An epsilon that vanished when it was added to a value too large (or in a type too coarse) to notice it."""

from __future__ import annotations

from itertools import islice

import torch

from sleuth.findings import Evidence, Fix, Link
from sleuth.live.births import Birth, Rewrite, Verdict
from sleuth.live.numbers import said
from sleuth.live.trace import Op, lineage

REFINES = ("log_of_zero", "division_by_zero", "rsqrt_of_zero", "log_of_negative", "sqrt_gradient_at_zero")

_GUARDED = {"log": 0, "log2": 0, "log10": 0, "div": 1, "reciprocal": 0, "rsqrt": 0}
_SUMS = {"add", "sub", "rsub"}
_NEAR = 3
# What people add as an epsilon; anything larger is a summand in its own right.
_EPSILON_AT_MOST = 1e-4


def check(birth: Birth) -> Verdict | None:
    index = _GUARDED.get(birth.name)
    if index is None or index >= len(birth.op.operands) or not birth.in_forward:
        return None
    held = birth.held(index)
    if not held.low <= 0 <= held.high:
        return None
    for maker in islice(lineage(birth.op.operands[index].maker), _NEAR):
        epsilon = _lost(maker)
        if epsilon is not None:
            return _told(epsilon, maker, index)
    return None


def _lost(op: Op) -> float | None:
    """The epsilon of this sum that its type could not hold."""
    if op.name.rstrip("_") not in _SUMS or op.output_dtype is None or not op.output_dtype.is_floating_point:
        return None
    info = torch.finfo(op.output_dtype)
    other = max((operand.numbers.magnitude for operand in op.operands), default=0.0)
    for scalar in op.scalars:
        rest = float(scalar) - round(scalar)
        if (
            round(scalar) == 0
            and 0 < abs(rest) <= _EPSILON_AT_MOST
            and (abs(rest) < other * info.eps / 2 or abs(rest) < info.smallest_normal * info.eps)
        ):
            return rest
        # `1e-10 + 1 - x` adds the two numbers in Python, and the type then rounds the sum to 1.
        if round(scalar) != 0 and 0 < abs(rest) < abs(round(scalar)) * info.eps / 2:
            return rest
    return None


def _told(epsilon: float, op: Op, index: int) -> Verdict:
    kind = str(op.output_dtype).removeprefix("torch.")
    resolution = torch.finfo(op.output_dtype).eps if op.output_dtype is not None else 0.0
    return Verdict(
        evidence=(Evidence("epsilon", abs(epsilon)), Evidence(f"resolution of {kind} at 1", resolution)),
        origin=(
            Link(
                f"the epsilon {said(abs(epsilon))} was lost here: {kind} cannot tell it from 0 beside a value near 1",
                op.place,
            ),
        ),
        fixes=(
            Fix("clamp instead of adding: (1 - x).clamp(min=1e-6)"),
            Fix("or compute from the logits: F.logsigmoid, F.binary_cross_entropy_with_logits, torch.log1p(-x)"),
        ),
        culprit=index,
        rewrites=(Rewrite("clamp instead of adding", "{}.clamp(min=1e-6)", index),),
    )
