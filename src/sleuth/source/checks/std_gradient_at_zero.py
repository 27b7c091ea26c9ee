"""The root of a variance, whose gradient is NaN where all values are equal."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = ("sqrt", "pow")


def operation(site: Site) -> Finding | None:
    if not limits.is_root(site) or not limits.may_be_trained(site):
        return None
    variance = made_by(site.operands[0], "var")
    if variance is None:
        return None
    sure = site.result.grad is True
    return tell.found(
        "std-gradient-at-zero",
        site,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(variance, "0 when all values are equal: a collapsed feature, one sample, a flat image"),
            tell.because(site.node, "there the derivative of the root is infinite, times 0 is NaN", site.spot.file),
        ],
        fixes=[Fix("put an epsilon inside the root: sqrt(var + 1e-5); or use torch.std, whose gradient there is 0")],
    )
