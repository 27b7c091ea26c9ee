"""sqrt or rsqrt of a value below 0."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict


def check(birth: Birth) -> Verdict | None:
    if birth.name not in {"sqrt", "rsqrt"} or not birth.made_nan or birth.in_derivative:
        return None
    negative = birth.counted(lambda x: x < 0)
    return Verdict(
        evidence=(Evidence("values below 0", negative),) if negative else (),
        fixes=(
            Fix("clamp before the root: x.clamp(min=eps).sqrt()"),
            Fix("a variance computed as E[x²] - E[x]² falls below 0 by rounding: use torch.var"),
        ),
    )
