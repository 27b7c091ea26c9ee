"""The logarithm of a softmax, which is exactly 0 where a score lies about 104 below the largest."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import fused, limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("log", "log2", "log10")
_WITH_A_LOG_SOFTMAX = frozenset(
    "torch.nn.functional.softmax torch.softmax torch.special.softmax tensorflow.nn.softmax jax.nn.softmax "
    "keras.ops.softmax".split()
)


def operation(site: Site) -> Finding | None:
    reached = limits.zero_in_log(site)
    if reached is None or reached.lost is not None or reached.source.op != "softmax":
        return None
    of = "1 - softmax" if reached.complement else "softmax"
    return tell.found(
        "log-of-softmax",
        site,
        title="log of 1 - softmax, which can be exactly 0" if reached.complement else None,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(reached.source, "softmax makes some probabilities exactly 0 and others exactly 1 in float32"),
            tell.because(site.node, f"the log of {of} is -inf there, and its gradient NaN", site.spot.file),
        ],
        fixes=[_fix(site, reached.source, reached.complement)],
    )


def _fix(site: Site, softmax: Value, complement: bool) -> Fix:
    if complement:
        return Fix("clamp it first: log((1 - p).clamp(min=1e-8))")
    call = fused.directly_inside(site, softmax)
    known = softmax.api in _WITH_A_LOG_SOFTMAX or (not softmax.api and softmax.kind == "tensor")
    text = fused.other_name(site.spot.file, call, "log_softmax") if call is not None and known else None
    if text is None or site.op != "log":
        return Fix("take log_softmax of the scores, or a cross-entropy that takes scores")
    return Fix("use log_softmax", fused.edit(site, text), safe=True)
