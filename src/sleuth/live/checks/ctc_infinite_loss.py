"""A CTC loss for a target that cannot be aligned with its input."""

from __future__ import annotations

from sleuth.findings import Fix
from sleuth.live.births import Birth, Verdict


def check(birth: Birth) -> Verdict | None:
    if "ctc_loss" not in birth.name or "backward" in birth.name:
        return None
    return Verdict(
        fixes=(
            Fix("make inputs as long as their targets, plus one frame for each repeated symbol, or drop the others"),
            Fix("nn.CTCLoss(zero_infinity=True) leaves such samples out"),
        ),
    )
