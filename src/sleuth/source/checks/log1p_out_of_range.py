"""log1p(-p) of a probability that can be 1, or log1p of what a tanh makes -1."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("log1p",)


def operation(site: Site) -> Finding | None:
    if not site.operands or site.result.kind != "tensor":
        return None
    reached = _minus_one(site.operands[0])
    free = made_by(site.operands[0], "linear") if reached is None else None
    if reached is None and free is None:
        return None
    if free is not None:
        why, fix = (
            tell.because(free, "a linear layer gives any number, also below -1"),
            "make it positive first: softplus",
        )
    else:
        source = reached.source if reached is not None else site.result
        why = tell.because(source, f"{source.op} is exactly 1 for ordinary inputs of float32")
        fix = "for a sigmoid use logsigmoid(-x); otherwise clamp: log1p(-p.clamp(max=1 - 1e-6))"
    return tell.found(
        "log1p-out-of-range",
        site,
        title="log1p of a value that can be -1",
        certainty="likely" if free is None else "hint",
        severity="warning" if free is None else "note",
        chain=[why, tell.because(site.node, "log1p is -inf at -1 and NaN below", site.spot.file)],
        fixes=[Fix(fix)],
    )


def _minus_one(argument: Value) -> limits.Reached | None:
    negated = made_by(argument, "neg")
    if negated is not None and negated.inputs:
        return limits.one(negated.inputs[0])
    reached = limits.one(argument) if argument.lo == -1 else None
    return reached if reached is not None and reached.source.op == "tanh" else None
