"""An overflow that the steps before it led up to: loss, gradients or weights grew out of all bounds."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict
from sleuth.live.checks.value_overflow import overflowed

FALLBACK = True
REFINES = ("value_overflow",)


# No useful weight is anywhere near this large; an update with a sane gradient and learning rate cannot get it there.
_HUGE_WEIGHT = 1e6


def check(birth: Birth) -> Verdict | None:
    weight = _largest_weight(birth)
    if not (birth.history.exploding or weight >= _HUGE_WEIGHT) or not overflowed(birth):
        return None
    return Verdict(
        evidence=(Evidence("growth over the last steps", birth.history.growth()), Evidence("largest weight", weight)),
        fixes=(
            Fix("lower the learning rate (try a tenth), or warm it up"),
            Fix("clip the gradients: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) before optimizer.step()"),
            Fix("normalise inputs and targets to about mean 0 and standard deviation 1"),
        ),
    )


def _largest_weight(birth: Birth) -> float:
    """Of the weights that the traced step has used so far, once they have been updated at all."""
    if not birth.history.gradient_norms:
        return 0.0
    return max(
        (
            operand.numbers.magnitude
            for op in (*birth.trace.ops, birth.op)
            for operand in op.operands
            if operand.tensor is not None and operand.tensor.requires_grad
        ),
        default=0.0,
    )
