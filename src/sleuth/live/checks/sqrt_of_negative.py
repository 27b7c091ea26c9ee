"""sqrt or rsqrt of a value below 0."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict

# Further below 0 than this, beside the largest value, it is not there by rounding: to clamp it would hide a mistake.
_ROUNDING = 1e-3


def check(birth: Birth) -> Verdict | None:
    if birth.name not in {"sqrt", "rsqrt"} or not birth.made_nan or birth.in_derivative:
        return None
    held = birth.held()
    by_rounding = -held.low <= _ROUNDING * max(held.high, 1.0)
    negative = birth.counted(lambda x: x < 0)
    return Verdict(
        evidence=(Evidence("values below 0", negative),) if negative else (),
        fixes=(
            Fix("clamp before the root: x.clamp(min=eps).sqrt()"),
            Fix("a variance computed as E[x²] - E[x]² falls below 0 by rounding: use torch.var"),
        ),
        rewrites=(Rewrite("clamp before the root", f"{{}}.clamp(min={birth.epsilon(1e-12)})"),) if by_rounding else (),
    )
