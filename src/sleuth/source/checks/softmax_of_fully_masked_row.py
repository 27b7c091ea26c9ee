"""A softmax over scores masked with -inf, where nothing says that a row keeps one finite score."""

from __future__ import annotations

import math

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors, made_by

OPERATIONS = ("softmax", "log_softmax")


def operation(site: Site) -> Finding | None:
    if not site.operands or not limits.may_be_trained(site):
        return None
    masked = made_by(site.operands[0], "masked_fill", "where")
    if masked is None or not _with_minus_infinity(masked) or _is_causal(masked):
        return None
    return tell.found(
        "softmax-of-fully-masked-row",
        site,
        title="softmax over a row that may be masked completely",
        certainty="hint",
        severity="note",
        chain=[
            tell.because(masked, "masked scores become -inf"),
            tell.because(site.node, "a row of nothing else gives NaN", site.spot.file),
        ],
        fixes=[Fix("mask with torch.finfo(scores.dtype).min, or keep empty rows out")],
    )


def _with_minus_infinity(masked: Value) -> bool:
    given = [*masked.inputs[1:3], *(one for one in (masked.option("value"),) if one is not None)]
    return any(one.number() == -math.inf for one in given)


def _is_causal(masked: Value) -> bool:
    """A causal mask leaves every row its diagonal."""
    condition = masked.inputs[1 if masked.op == "masked_fill" else 0] if len(masked.inputs) > 1 else None
    return condition is not None and any(one.op in ("triu", "eye") for one in ancestors(condition, most=20))
