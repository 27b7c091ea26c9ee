"""A bound put on the result of an exp, where its gradient is already NaN."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import exponentials, limits, tell
from sleuth.source.sites import Site

OPERATIONS = ("clamp", "minimum")
# A bound this large is there against overflow; a smaller one (PPO's 1.2) means something else.
_AGAINST_OVERFLOW = 10.0


def operation(site: Site) -> Finding | None:
    inner, bound = site.operand(0, "input", "x"), limits.upper_bound(site.result)
    if inner is None or bound is None or site.result.kind != "tensor" or site.result.grad is False:
        return None
    number, exp = bound.number(), exponentials.unbounded_exp(inner)
    if exp is None or number is None or number < _AGAINST_OVERFLOW or site.spot.without_grad:
        return None
    # Of a bounded perplexity in a log line nothing is differentiated.
    sure = site.result.grad is True
    return tell.found(
        "clamp-after-exp",
        site,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(exp, "exp is inf in float32 for everything above 88.7"),
            tell.because(
                site.node, "the clamp hides that, but backwards it hands 0 to exp: 0 · inf is NaN", site.spot.file
            ),
        ],
        fixes=[Fix("clamp the argument instead: x.clamp(max=math.log(bound)).exp()")],
    )
