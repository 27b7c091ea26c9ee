"""y * log(p) + (1 - y) * log(1 - p) on a probability that nothing keeps off 0 and 1."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by, origins, same

OPERATIONS = ("add", "sub")


def operation(site: Site) -> Finding | None:
    left, right = site.operand(0), site.operand(1)
    if left is None or right is None or (site.op == "sub" and not _is_negated(left)):
        return None
    function = site.spot.function
    if function is not None and function.followed and not site.spot.calls:
        # Its callers show what it is given; this reading by itself knows less.
        return None
    logs = [_log(left), _log(right)]
    if logs[0] is None or logs[1] is None:
        return None
    complement, plain = (logs[0], logs[1]) if _one_minus(logs[0].inputs[0]) is not None else (logs[1], logs[0])
    probability = _one_minus(complement.inputs[0])
    if probability is None or not same(probability, plain.inputs[0]) or not _comes_as_it_is(probability):
        return None
    return tell.found(
        "hand-written-binary-cross-entropy",
        site,
        node=complement.node,
        file=complement.unit,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(probability, "a predicted probability can be exactly 0 or 1"),
            tell.because(complement, "then one of the two logs is -inf, and 0 · inf is NaN"),
        ],
        fixes=[Fix("use binary_cross_entropy_with_logits on the scores, or clamp the probability to [1e-7, 1 - 1e-7]")],
    )


def _is_negated(term: Value) -> bool:
    """`-y * log(p) - (1 - y) * log(1 - p)`."""
    while term.op in ("mul", "neg") and term.inputs:
        if term.op == "neg":
            return True
        term = term.inputs[0]
    return (term.number() or 0) < 0


def _log(term: Value) -> Value | None:
    """The log of `weight * log(p)`, however many factors there are."""
    for _ in range(6):
        if term.op == "log" and term.inputs:
            return term if term.kind == "tensor" else None
        if term.op == "neg" and term.inputs:
            term = term.inputs[0]
        elif term.op in ("mul", "sum", "mean") and term.inputs:
            inner = [one for one in term.inputs[:2] if one.op in ("log", "mul", "neg")]
            if not inner:
                return None
            term = next((one for one in inner if one.op == "log"), inner[0])
        else:
            return None
    return None


def _one_minus(value: Value) -> Value | None:
    difference = made_by(value, "sub")
    if difference is None or len(difference.inputs) < 2 or difference.inputs[0].number() != 1:
        return None
    return difference.inputs[1]


def _comes_as_it_is(probability: Value) -> bool:
    """It is what the function was given, or what a network gave: no clamp, no epsilon, no range known."""
    if probability.lo is not None:
        return False
    return all(one.op.startswith("param:") or one.op in ("symbolic", "module") for one in origins(probability))
