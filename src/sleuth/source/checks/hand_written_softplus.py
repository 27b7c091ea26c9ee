"""log(1 + exp(x)), which is inf from x = 89 on where the answer is x."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import exponentials, fused, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("log", "log1p")
_SOFTPLUS = {
    "torch": lambda written: f"{'torch.nn.functional' if written in ('torch', 'torch.special') else written}.softplus",
    "tensorflow": lambda written: f"{written.partition('.')[0]}.nn.softplus",
    "keras.backend": lambda written: f"{written}.softplus",
    "keras.ops": lambda written: f"{written}.softplus",
}


def operation(site: Site) -> Finding | None:
    argument = site.operand(0, "input", "x")
    if argument is None or site.result.kind != "tensor":
        return None
    exp = exponentials.one_plus_exp(argument) if site.op == "log" else exponentials.unbounded_exp(argument)
    if exp is None:
        return None
    return tell.found(
        "hand-written-softplus",
        site,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(exp, "exp is inf in float32 for everything above 88.7"),
            tell.because(site.node, "the log of inf is inf, and the gradient NaN", site.spot.file),
        ],
        fixes=[_fix(site, exp)],
    )


def _fix(site: Site, exp: Value) -> Fix:
    file = site.spot.file
    known = fused.prefix(file, exp.node, exp.api)
    argument = fused.only_argument(file, exp.node)
    if (
        known is None
        or argument is None
        or known[0] not in _SOFTPLUS
        or exp.unit is not file
        or exp.line != site.node.lineno
    ):
        return Fix("use softplus")
    return Fix("use softplus", fused.edit(site, f"{_SOFTPLUS[known[0]](known[1])}({argument})"), safe=True)
