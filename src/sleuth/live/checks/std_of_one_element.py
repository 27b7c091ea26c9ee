"""A standard deviation or variance over a single value (or none): 0 divided by 0."""

from __future__ import annotations

from sleuth.findings import Fix
from sleuth.live.births import Birth, Rewrite, Verdict

_SPREADS = {"std", "var", "std_mean", "var_mean"}


def check(birth: Birth) -> Verdict | None:
    if birth.name not in _SPREADS or not birth.made_nan or birth.held().magnitude > 1e15:
        return None
    return Verdict(
        fixes=(
            Fix("use unbiased=False (correction=0), which is 0 for one value, and add an epsilon before dividing"),
            Fix("or keep the batch larger than one: drop_last=True in the DataLoader"),
        ),
        rewrites=(Rewrite("use unbiased=False, which is 0 for one value", keyword="unbiased=False"),),
    )
