"""acos or asin beyond [-1, 1], acosh below 1, atanh at or beyond ±1."""

from __future__ import annotations

from sleuth.findings import Fix
from sleuth.live.births import Birth, Verdict

_ADVICE = {
    "acos": "clamp the argument: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6)); rounding takes a cosine just past 1",
    "asin": "clamp the argument: torch.asin(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    "acosh": "clamp the argument: torch.acosh(x.clamp(min=1 + 1e-6))",
    "atanh": "clamp the argument: torch.atanh(x.clamp(-1 + 1e-6, 1 - 1e-6))",
}


def check(birth: Birth) -> Verdict | None:
    advice = _ADVICE.get(birth.name)
    if advice is None:
        return None
    angle = Fix("for an angle between vectors, torch.atan2(cross, dot) has no edge to fall off")
    return Verdict(fixes=(Fix(advice), angle) if birth.name in {"acos", "asin"} else (Fix(advice),))
