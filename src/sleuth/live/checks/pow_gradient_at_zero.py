"""The derivative of x ** p at 0 for p below 1, which is infinite."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict


def check(birth: Birth) -> Verdict | None:
    if not birth.differentiates("Pow"):
        return None
    held = birth.forward_held()
    if not held.low <= 0 <= held.high:
        return None
    forward = birth.op.forward
    exponent = min(forward.scalars, default=None) if forward is not None else None
    return Verdict(
        evidence=(Evidence("exponent", exponent), Evidence("smallest base", held.low)),
        fixes=(Fix("keep the base away from 0: (x + eps) ** p or x.clamp(min=eps) ** p"),),
        rewrites=(Rewrite("keep the base away from 0", f"{{}}.clamp(min={birth.epsilon(1e-8)})"),),
    )
