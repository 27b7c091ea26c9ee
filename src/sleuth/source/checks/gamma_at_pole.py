"""lgamma or digamma of a value that an activation makes exactly 0."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("lgamma",)


def operation(site: Site) -> Finding | None:
    if not site.operands or site.result.kind != "tensor":
        return None
    source = _zero(site.operands[0])
    if source is None:
        return None
    # softplus and exp come to 0 only at about x = -104.
    sure = source.op not in ("softplus", "exp")
    return tell.found(
        "gamma-at-pole",
        site,
        title="gamma function of a value that can be 0",
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(source, f"{source.op} gives exactly 0 for inputs that are low enough"),
            tell.because(site.node, "the gamma function has a pole at 0", site.spot.file),
        ],
        fixes=[Fix("keep the argument off 0 where it is made: softplus(x) + 1e-4")],
    )


def _zero(argument: Value) -> Value | None:
    reached = limits.zero(argument)
    if reached is not None:
        return reached.source
    return made_by(argument, "softplus", "exp") if limits.trained_raw(argument) else None
