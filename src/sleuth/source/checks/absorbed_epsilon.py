"""An epsilon that float32 cannot hold where it was added: log(1e-10 + 1 - p), clamp(p, max=1 - 1e-8)."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site

OPERATIONS = ("log", "log2", "log10", "div", "rsqrt")


def operation(site: Site) -> Finding | None:
    guarded = site.operand(1 if site.op == "div" else 0)
    if guarded is None or site.result.kind != "tensor":
        return None
    reached = limits.zero(guarded)
    if reached is None or reached.lost is None:
        return None
    number = reached.lost.number()
    epsilon = None if number is None else abs(number - round(number))
    kind = guarded.dtype or "float32"
    return tell.found(
        "absorbed-epsilon",
        site,
        title=None if epsilon is None else f"epsilon {epsilon:.0e} is lost in {kind}",
        certainty="certain" if reached.source.op in ("sigmoid", "softmax") else "likely",
        severity="warning",
        chain=[
            tell.because(reached.lost, f"in {kind} this is exactly {round(number or 0)}"),
            tell.because(reached.source, "and this reaches it"),
            tell.because(site.node, "so the argument can be exactly 0", site.spot.file),
        ],
        fixes=[Fix("add the epsilon last, next to the small number: (1 - p) + eps; or clamp with a bound above 1e-7")],
    )
