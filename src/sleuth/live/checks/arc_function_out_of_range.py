"""acos or asin beyond [-1, 1], acosh below 1, atanh at or beyond ±1."""

from __future__ import annotations

from sleuth.findings import Fix
from sleuth.live.births import Birth, Rewrite, Verdict

_ADVICE = {
    "acos": "clamp the argument: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6)); rounding takes a cosine just past 1",
    "asin": "clamp the argument: torch.asin(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    "acosh": "clamp the argument: torch.acosh(x.clamp(min=1 + 1e-6))",
    "atanh": "clamp the argument: torch.atanh(x.clamp(-1 + 1e-6, 1 - 1e-6))",
}

_ROUNDING = 1e-3


def check(birth: Birth) -> Verdict | None:
    advice = _ADVICE.get(birth.name)
    if advice is None:
        return None
    angle = Fix("for an angle between vectors, torch.atan2(cross, dot) has no edge to fall off")
    within = "{}.clamp(min=1 + 1e-6)" if birth.name == "acosh" else "{}.clamp(-1 + 1e-6, 1 - 1e-6)"
    return Verdict(
        fixes=(Fix(advice), angle) if birth.name in {"acos", "asin"} else (Fix(advice),),
        rewrites=(Rewrite("clamp the argument", within),) if _by_rounding(birth) else (),
    )


def _by_rounding(birth: Birth) -> bool:
    """Further out the argument is not a cosine at all: to clamp it would hide a mistake."""
    held = birth.held()
    return held.low >= 1 - _ROUNDING if birth.name == "acosh" else held.magnitude <= 1 + _ROUNDING
