"""The root of a sum of squares written by hand, whose gradient is NaN where two points are equal."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("sqrt", "pow", "norm", "hypot")


def operation(site: Site) -> Finding | None:
    if not limits.may_be_trained(site) or not site.operands:
        return None
    squared = _squared(site)
    if squared is None:
        return None
    difference = made_by(squared, "sub")
    if difference is not None and _to_the_mean(difference):
        return None
    return tell.found(
        "norm-gradient-at-zero",
        site,
        # Whether two points are ever equal the code does not tell.
        certainty="hint",
        severity="note",
        chain=[
            tell.because(squared, "0 for two equal points" if difference is not None else "can be all zeros"),
            tell.because(site.node, "there the derivative of the root is infinite, times 0 is NaN", site.spot.file),
        ],
        fixes=[Fix("use torch.linalg.vector_norm or cdist, or put an epsilon inside the root: sqrt(sum + 1e-12)")],
    )


def _squared(site: Site) -> Value | None:
    """What is squared and summed: by hand, or by a norm of TensorFlow or JAX, which do not mend the gradient."""
    if site.op == "hypot":
        return site.operands[0]
    if site.op == "norm":
        elsewhere = site.name.startswith(("tensorflow.", "jax."))
        return site.operands[0] if elsewhere and made_by(site.operands[0], "sub") is not None else None
    if not limits.is_root(site):
        return None
    total = made_by(site.operands[0], "sum")
    return None if total is None or not total.inputs else limits.squared(total.inputs[0])


def _to_the_mean(difference: Value) -> bool:
    return len(difference.inputs) > 1 and made_by(difference.inputs[1], "mean") is not None
