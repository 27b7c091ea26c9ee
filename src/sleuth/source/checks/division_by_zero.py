"""A division by what can be exactly 0: a sum behind a ReLU, a spread by hand, a count of positives."""

from __future__ import annotations

import re

from sleuth.findings import Certainty, Finding, Fix, Severity
from sleuth.source import exponentials, limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by, same

OPERATIONS = ("div",)
# Counts that are 0 in ordinary batches: an image without objects has no positives.
_OFTEN_NONE = re.compile(r"\b(num|n|nb|count)_?(pos|positives?|fg|foreground|matched|matches|objs?|objects?)\b")


def operation(site: Site) -> Finding | None:
    if len(site.operands) < 2 or site.result.kind != "tensor":
        return None
    divisor = site.operands[1]
    if (
        divisor.kind not in ("tensor", "?")
        or (divisor.lo is not None and divisor.lo > 0)
        or exponentials.softmax_by_hand(site.result)
    ):
        return None
    reached = limits.zero(divisor)
    if reached is not None and reached.lost is None and reached.source.op in ("relu", "clamp", "maximum"):
        sure = reached.source.op == "relu" or site.result.grad is True
        why = "0 where everything is negative"
        return _found(site, reached.source, why, "likely" if sure else "hint", "warning" if sure else "note")
    spread = _spread(divisor)
    if spread is not None:
        sure = site.result.grad is True and spread.op != "sub"
        why = "0 where all values of a row are equal"
        return _found(site, spread, why, "likely" if sure else "hint", "warning" if sure else "note")
    count = _count(divisor)
    if count is None:
        return None
    often = _OFTEN_NONE.search(site.spot.file.source(site.node)) is not None and not site.spot.tests
    why = "0 when nothing is selected"
    return _found(site, count, why, "likely" if often else "hint", "warning" if often else "note")


def _spread(divisor: Value) -> Value | None:
    """A standard deviation by hand: sqrt(mean((x - mean) ** 2)), or max - min of one thing."""
    span = made_by(divisor, "sub")
    if span is not None and len(span.inputs) > 1:
        largest, smallest = made_by(span.inputs[0], "max"), made_by(span.inputs[1], "min")
        if largest is None or smallest is None or not largest.inputs or not smallest.inputs:
            return None
        return span if same(largest.inputs[0], smallest.inputs[0]) else None
    root = made_by(divisor, "sqrt")
    if root is None or not root.inputs:
        return None
    mean = made_by(root.inputs[0], "mean")
    inner = None if mean is None or not mean.inputs else limits.squared(mean.inputs[0])
    return mean if inner is not None and made_by(inner, "sub") is not None else None


def _count(divisor: Value) -> Value | None:
    """The sum of a comparison or a mask of 0 and 1."""
    total = made_by(divisor, "sum")
    if total is None or not total.inputs:
        return None
    return total if made_by(total.inputs[0], "compare", "isnan") is not None else None


def _found(site: Site, source: Value, why: str, certainty: Certainty, severity: Severity) -> Finding:
    return tell.found(
        "division-by-zero",
        site,
        title="division by a value that can be 0",
        certainty=certainty,
        severity=severity,
        chain=[
            tell.because(source, why),
            tell.because(site.node, "0 / 0 is NaN, and so is the gradient", site.spot.file),
        ],
        fixes=[Fix("keep the divisor off 0: x / count.clamp(min=1), x / (scale + 1e-6)")],
    )
