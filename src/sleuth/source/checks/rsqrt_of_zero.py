"""rsqrt of a mean of squares or of a variance, without an epsilon."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("rsqrt", "pow")


def operation(site: Site) -> Finding | None:
    if not site.operands or site.result.kind != "tensor":
        return None
    if site.op == "pow":
        exponent = site.operand(1, "exponent")
        if exponent is None or exponent.number() != -0.5:
            return None
    source = _energy(site.operands[0])
    if source is None:
        return None
    # The length of one vector is rarely 0; the rows of a batch that is normalised often are.
    sure = source.op != "sum"
    return tell.found(
        "rsqrt-of-zero",
        site,
        title="rsqrt of a value that can be 0",
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(source, "0 for a row of zeros: padding, a dead unit, a flat image"),
            tell.because(site.node, "1 / sqrt(0) is inf, and 0 · inf is NaN", site.spot.file),
        ],
        fixes=[Fix("add an epsilon inside: rsqrt(x + 1e-6)")],
    )


def _energy(value: Value) -> Value | None:
    variance = made_by(value, "var")
    if variance is not None:
        return variance
    total = made_by(value, "mean", "sum")
    if total is not None and total.inputs and limits.squared(total.inputs[0]) is not None:
        return total
    return None
