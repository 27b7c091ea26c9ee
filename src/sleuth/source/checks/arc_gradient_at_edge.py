"""acos, asin or atanh of a value that can be exactly 1 or -1, where the derivative is infinite."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site

OPERATIONS = ("acos", "asin", "atanh")


def operation(site: Site) -> Finding | None:
    if not site.operands or not limits.may_be_trained(site):
        return None
    argument = site.operands[0]
    if argument.hi != 1 or argument.lo is None or argument.lo < -1:
        return None
    reached = limits.one(argument)
    if reached is None:
        return None
    sure = site.result.grad is True
    lost = "" if reached.lost is None else "; the margin it was given is lost in float32"
    return tell.found(
        "arc-gradient-at-edge",
        site,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(argument, f"can be exactly 1{lost}"),
            tell.because(site.node, f"there the derivative of {site.op} is infinite", site.spot.file),
        ],
        fixes=[Fix("clamp strictly inside: x.clamp(-1 + 1e-6, 1 - 1e-6); or use atan2")],
    )
