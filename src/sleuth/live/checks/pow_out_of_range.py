"""A negative base with a fractional exponent, or 0 with a negative one."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict
from sleuth.live.numbers import NOTHING


def check(birth: Birth) -> Verdict | None:
    if birth.name not in {"pow", "float_power"} or birth.in_derivative:
        return None
    base = birth.held(0) if birth.op.operands else NOTHING
    exponents = birth.held(1) if len(birth.op.operands) > 1 else None
    lowest = exponents.low if exponents is not None else min(birth.scalars, default=1.0)
    if birth.made_nan and base.low < 0:
        advice = "a negative base has no fractional power: use x.abs() ** p * x.sign(), or clamp the base at 0"
    elif not birth.made_nan and lowest < 0 and base.low <= 0 <= base.high:
        advice = "0 has no negative power: add an epsilon or clamp the base, (x + eps) ** p, or mask the zeros first"
    else:
        return None
    rewrite = Rewrite("keep the base away from 0", f"{{}}.clamp(min={birth.epsilon(1e-8)})")
    return Verdict(
        evidence=(Evidence("exponent", lowest),), fixes=(Fix(advice),), rewrites=(rewrite,) if base.low >= 0 else ()
    )
