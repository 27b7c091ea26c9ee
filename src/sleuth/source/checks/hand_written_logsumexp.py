"""log(sum(exp(x))) without subtracting the maximum, or with one maximum for all rows."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import exponentials, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("log",)
_AXES = ("dim", "axis", "reduction_indices")


def operation(site: Site) -> Finding | None:
    argument = site.operand(0, "input", "x")
    total = None if argument is None else made_by(argument, "sum", "mean")
    if total is None or not total.inputs or site.result.kind != "tensor":
        return None
    exp = made_by(total.inputs[0], "exp")
    if exp is None or not exp.inputs:
        return None
    if exponentials.grows(exp.inputs[0]):
        title, why = None, "exp is inf in float32 for everything above 88.7"
    elif _subtracts_one_maximum(exp.inputs[0]) and _along_an_axis(total):
        title = "log-sum-exp with one maximum for all rows"
        why = "rows that lie 104 below the largest of all become exactly 0"
    else:
        return None
    return tell.found(
        "hand-written-logsumexp",
        site,
        title=title,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(exp, why),
            tell.because(site.node, "the log of that is not finite", site.spot.file),
        ],
        fixes=[Fix("use the framework's logsumexp along the same axis")],
    )


def _along_an_axis(value: Value) -> bool:
    return len(value.inputs) > 1 or any(value.option(name) is not None for name in _AXES)


def _subtracts_one_maximum(argument: Value) -> bool:
    shifted = made_by(argument, "sub")
    if shifted is None or len(shifted.inputs) < 2:
        return False
    largest = made_by(shifted.inputs[1], "max")
    return largest is not None and not _along_an_axis(largest) and len(largest.inputs) == 1
