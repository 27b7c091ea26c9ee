"""An overflow that the steps before it led up to: loss or gradients multiplied from step to step."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict
from sleuth.live.checks.value_overflow import overflowed

FALLBACK = True
REFINES = ("value_overflow",)


def check(birth: Birth) -> Verdict | None:
    if not birth.history.exploding or not overflowed(birth):
        return None
    return Verdict(
        evidence=(Evidence("growth over the last steps", birth.history.growth()),),
        fixes=(
            Fix("lower the learning rate (try a tenth), or warm it up"),
            Fix("clip the gradients: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) before optimizer.step()"),
            Fix("normalise inputs and targets to about mean 0 and standard deviation 1"),
        ),
    )
