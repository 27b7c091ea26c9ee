"""exp in a form that overflows where a better one does not: sqrt(exp(x)), 1 / (1 + exp(-x)), tanh written with exp."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import exponentials, fused, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("sqrt", "pow", "div")


def operation(site: Site) -> Finding | None:
    if site.result.kind != "tensor" or not site.operands:
        return None
    if site.op == "div":
        return _quotient(site)
    exponent = site.operand(1, "exponent")
    if site.op == "pow" and (exponent is None or exponent.number() != 0.5):
        return None
    exp = exponentials.unbounded_exp(site.operands[0])
    if exp is None:
        return None
    return _found(
        site,
        exp,
        "exp overflows before its square root is taken",
        "and the root's gradient is inf where exp is 0; exp(0.5 * x) is the same number",
        Fix("halve the exponent: exp(0.5 * x)", _halved(site, exp), safe=True),
    )


def _quotient(site: Site) -> Finding | None:
    exp = exponentials.sigmoid_by_hand(site.result)
    if exp is not None and not site.spot.without_grad and site.result.grad is not False:
        why = "1 / inf is the right 0, but its gradient is 0 · inf, NaN"
        fix = Fix("use the framework's sigmoid")
        return _found(site, exp, "sigmoid written with exp", why, fix, sure=site.result.grad is True)
    above, below = site.operands[:2] if len(site.operands) > 1 else (None, None)
    exp = None if above is None else _overflowing(above)
    other = None if below is None else _overflowing(below)
    if exp is None or other is None or not exponentials.related(exp.inputs[0], other.inputs[0]):
        return None
    return _found(site, exp, "quotient of two exponentials", "inf / inf is NaN", Fix("use tanh, sigmoid or softmax"))


def _overflowing(value: Value) -> Value | None:
    """The exp in `exp(x) - exp(-x)` or `exp(x) + 1`."""
    total = made_by(value, "add", "sub")
    if total is None:
        return None
    return next((exp for one in total.inputs[:2] if (exp := exponentials.unbounded_exp(one)) is not None), None)


def _found(site: Site, exp: Value, title: str, why: str, fix: Fix, *, sure: bool = True) -> Finding:
    return tell.found(
        "exp-overflow",
        site,
        title=title,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(exp, "exp is inf in float32 for everything above 88.7"),
            tell.because(site.node, why, site.spot.file),
        ],
        fixes=[fix],
    )


def _halved(site: Site, exp: Value) -> tuple[Edit, ...]:
    file, call = site.spot.file, fused.directly_inside(site, exp)
    argument = fused.only_argument(file, call)
    if call is None or argument is None or site.op != "sqrt" or not call.args:
        return ()
    func = file.source(call.func)
    return fused.edit(site, f"{func}(0.5 * {argument})") if isinstance(call.func, ast.Attribute) else ()
