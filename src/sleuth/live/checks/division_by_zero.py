"""A division, reciprocal or remainder whose divisor is 0 (or too near to it for the type)."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict

_DIVISIONS = {"div", "divide", "true_divide", "floor_divide", "remainder", "fmod"}
_COUNTS = {"sum", "count_nonzero", "_to_copy", "clone", "any", "all"}


def check(birth: Birth) -> Verdict | None:
    # A division inside torch's own derivatives belongs to the operation that is differentiated.
    if birth.in_derivative and not birth.differentiates("Div", "Reciprocal"):
        return None
    if birth.name == "reciprocal":
        divisor = 0
    elif birth.name in _DIVISIONS and len(birth.op.operands) > 1:
        divisor = 1
    elif birth.name in _DIVISIONS and 0 in birth.scalars:
        return Verdict(evidence=(Evidence("divisor", 0.0),), fixes=_fixes(False))
    else:
        return None
    held = birth.held(divisor)
    if not held.low <= 0 <= held.high and not _tiny(birth, divisor):
        return None
    zeros = birth.counted(lambda x: x == 0, divisor)
    maker = birth.op.operands[divisor].maker
    counts = maker is not None and maker.name in _COUNTS
    return Verdict(
        evidence=(Evidence("zeros in the divisor", zeros),) if zeros else (),
        fixes=_fixes(counts),
        culprit=divisor,
        rewrites=_rewrites(birth, divisor, counts),
    )


def _rewrites(birth: Birth, divisor: int, counts: bool) -> tuple[Rewrite, ...]:
    if counts:
        return (
            Rewrite("divide by at least 1: the divisor is a count or sum that can be 0", "{}.clamp(min=1)", divisor),
        )
    if birth.held(divisor).low < 0:
        return ()
    return (Rewrite("keep the divisor away from 0", f"{{}}.clamp(min={birth.epsilon(1e-8)})", divisor),)


def _tiny(birth: Birth, divisor: int) -> bool:
    """Not 0, but so small that the quotient leaves the type's range."""
    return birth.held(divisor).magnitude < 1e-30


def _fixes(counts: bool) -> tuple[Fix, ...]:
    if counts:
        return (
            Fix("the divisor is a count or sum that can be 0: divide by it.clamp(min=1)"),
            Fix("or leave out the batch or term that has nothing to average"),
        )
    return (
        Fix("keep the divisor away from 0: x / (d + eps) for d >= 0, or d.clamp(min=eps)"),
        Fix("where a 0 is meant, choose before dividing: x / torch.where(d == 0, 1, d)"),
    )
