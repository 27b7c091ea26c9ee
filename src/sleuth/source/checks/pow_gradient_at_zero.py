"""A power between 0 and 1 of a base that can be exactly 0."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = ("pow",)


def operation(site: Site) -> Finding | None:
    exponent = site.operand(1, "exponent")
    number = None if exponent is None else exponent.number()
    if number is None or not 0 < number < 1 or not limits.may_be_trained(site):
        return None
    base = site.operands[0]
    magnitude = made_by(base, "abs")
    reached = limits.zero(magnitude.inputs[0] if magnitude is not None and magnitude.inputs else base)
    if magnitude is None and (reached is None or reached.source.op not in ("clamp", "maximum", "square")):
        return None
    sure = magnitude is not None and reached is not None and site.result.grad is True
    return tell.found(
        "pow-gradient-at-zero",
        site,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(base, "can be exactly 0"),
            tell.because(site.node, f"there the derivative of x ** {number:g} is infinite", site.spot.file),
        ],
        fixes=[Fix("keep the base off 0: (x.abs() + 1e-6) ** p")],
    )
