"""rsqrt of exactly 0."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict


def check(birth: Birth) -> Verdict | None:
    if birth.name != "rsqrt" or birth.made_nan or birth.in_derivative:
        return None
    zeros = birth.counted(lambda x: x == 0)
    return Verdict(
        evidence=(Evidence("exact zeros", zeros),) if zeros else (),
        fixes=(Fix("add the epsilon inside: torch.rsqrt(x + eps), with eps well above the type's smallest step"),),
        rewrites=(Rewrite("add an epsilon inside", f"{{}} + {birth.epsilon(1e-12)}"),),
    )
