"""where(x > 0, log(x), 0): the value is right, and the gradient of the branch not taken is NaN."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors, made_by, same

OPERATIONS = ("where",)
_SINGULAR = frozenset({"log", "log2", "log10", "sqrt", "rsqrt", "div", "reciprocal", "acos", "asin", "pow", "log1p"})
# How many operations may stand between the dangerous one and the where.
_NEAR = 5


def operation(site: Site) -> Finding | None:
    if len(site.operands) < 3 or site.result.kind != "tensor" or not limits.may_be_trained(site):
        return None
    condition, *branches = site.operands[:3]
    test = made_by(condition, "compare", "isnan")
    if test is None:
        return None
    for branch in branches:
        for value in ancestors(branch, lambda one: one.op in _SINGULAR, most=_NEAR):
            bad = _argument(value) if value.op in _SINGULAR else None
            if bad is not None and _asked_about(bad, test) and value.grad is not False:
                return _found(site, value, sure=site.result.grad is True and value.grad is True)
    return None


def _argument(value: Value) -> Value | None:
    """The operand that must not be 0."""
    if value.op == "div":
        return value.inputs[1] if len(value.inputs) > 1 else None
    if value.op == "pow":
        exponent = value.inputs[1].number() if len(value.inputs) > 1 else None
        return value.inputs[0] if exponent is not None and exponent < 1 else None
    return value.inputs[0] if value.inputs else None


def _asked_about(argument: Value, test: Value) -> bool:
    """Does the condition ask about this very value, which nothing has made safe?"""
    if argument.lo is not None and argument.lo > 0:
        return False
    if any(one.op in ("where", "clamp", "maximum", "masked_fill", "add") for one in (argument, *argument.inputs)):
        return False
    asked = [one for one in test.inputs if same(argument, one) or (argument is one and one.kind == "tensor")]
    # Against a number: `step < warmup` asks where one stands, `x > 0` what one may do.
    return bool(asked) and (len(test.inputs) == 1 or any(one.kind == "number" for one in test.inputs))


def _found(site: Site, value: Value, *, sure: bool) -> Finding:
    return tell.found(
        "where-hides-bad-gradient",
        site,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(value, "computed for every element, also for those the condition rules out"),
            tell.because(site.node, "backwards they receive 0, times an infinite derivative is NaN", site.spot.file),
        ],
        fixes=[Fix("select the argument first: safe = where(cond, x, 1), then where(cond, f(safe), 0)")],
    )
