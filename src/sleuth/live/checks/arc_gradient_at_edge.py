"""The derivative of acos, asin, acosh or atanh at the edge of its range, which is infinite."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict


def check(birth: Birth) -> Verdict | None:
    if not birth.differentiates("Acos", "Asin", "Acosh", "Atanh"):
        return None
    held = birth.forward_held()
    return Verdict(
        evidence=(Evidence("smallest argument", held.low), Evidence("largest argument", held.high)),
        fixes=(
            Fix("clamp strictly inside the range: x.clamp(-1 + 1e-6, 1 - 1e-6); clamping to exactly ±1 does not help"),
            Fix("for an angle between vectors use torch.atan2, or train on the cosine itself"),
        ),
        rewrites=(Rewrite("clamp strictly inside the range", "{}.clamp(-1 + 1e-6, 1 - 1e-6)"),),
    )
