"""exp(x) / exp(x).sum(), which is inf / inf from x = 89 on."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import exponentials, tell
from sleuth.source.sites import Site

OPERATIONS = ("div",)


def operation(site: Site) -> Finding | None:
    if site.result.kind == "array" or site.result.op != "div":
        return None
    found = exponentials.softmax_by_hand(site.result)
    if found is None or found[0].kind != "tensor":
        return None
    exp, total = found
    return tell.found(
        "hand-written-softmax",
        site,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(exp, "exp is inf in float32 for everything above 88.7"),
            tell.because(total, "and so is the sum"),
            tell.because(site.node, "inf / inf is NaN", site.spot.file),
        ],
        fixes=[Fix("use the framework's softmax (log_softmax if a log follows): it subtracts the largest score first")],
    )
