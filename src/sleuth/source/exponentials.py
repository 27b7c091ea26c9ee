"""Exponentials that overflow: an exp whose argument nothing keeps small, and the formulas people build from it."""

from __future__ import annotations

from typing import Final

from sleuth.source.values import SAME_NUMBERS, Value, ancestors, made_by, same

# exp overflows float32 at 88.7; a bound below says that somebody has thought of it.
_EXP_LIMIT: Final = 88.0
# What keeps the argument of an exp small, seen among the few operations before it.
_TAME: Final = frozenset(
    "max clamp maximum minimum min pool adaptive_pool abs square pow logsumexp log_softmax log_sigmoid normalize "
    "cosine_similarity tanh sigmoid softmax batch_norm cdist norm mse l1 smooth_l1 cross_entropy sin where".split()
)
_TAME_WITHIN: Final = 30
# Behind weights nothing is tame any more.
_FREE: Final = frozenset({"linear", "conv", "module", "matmul", "recurrent", "keras_recurrent", "embedding"})


def unbounded_exp(value: Value) -> Value | None:
    """The exp that surely made it, whose argument nothing visible keeps small."""
    made = made_by(value, "exp")
    return made if made is not None and made.inputs and grows(made.inputs[0]) else None


def grows(argument: Value) -> bool:
    """Can it pass the limit of exp, as far as one can see?"""
    if argument.hi is not None and argument.hi < _EXP_LIMIT:
        return False
    number = argument.number()
    if number is not None:
        return False
    near = ancestors(argument, lambda each: each.op in _FREE, most=_TAME_WITHIN)
    return not any(each.op in _TAME for each in near)


def softmax_by_hand(quotient: Value) -> tuple[Value, Value] | None:
    """`exp(x) / exp(x).sum()`: the exp, and the sum."""
    if quotient.op != "div" or len(quotient.inputs) < 2:
        return None
    above, below = quotient.inputs[:2]
    total = made_by(_without_epsilon(below), "sum")
    made = unbounded_exp(_without_mask(above))
    if total is None or made is None or not total.inputs:
        return None
    summed = unbounded_exp(_without_mask(total.inputs[0]))
    if summed is None:
        return None
    return (made, total) if related(made.inputs[0], summed.inputs[0]) or same(total.inputs[0], above) else None


def sigmoid_by_hand(quotient: Value) -> Value | None:
    """`1 / (1 + exp(-x))`: the exp."""
    if quotient.op != "div" or len(quotient.inputs) < 2 or quotient.inputs[0].number() != 1:
        return None
    return one_plus_exp(quotient.inputs[1])


def one_plus_exp(total: Value) -> Value | None:
    """`1 + exp(x)`, either way round: the exp."""
    added = made_by(total, "add")
    if added is None or len(added.inputs) < 2:
        return None
    for constant, other in (added.inputs[:2], added.inputs[1::-1]):
        if constant.number() == 1:
            return unbounded_exp(other)
    return None


def _without_epsilon(value: Value) -> Value:
    added = made_by(value, "add")
    if added is not None and len(added.inputs) > 1 and added.inputs[1].number() is not None:
        return added.inputs[0]
    return value


def _without_mask(value: Value) -> Value:
    """The exp of `exp(x) * mask`."""
    product = made_by(value, "mul")
    if product is None or len(product.inputs) < 2:
        return value
    return next((each for each in product.inputs[:2] if made_by(each, "exp") is not None), value)


def related(a: Value, b: Value) -> bool:
    """Is one the other, or a part of it (a row, the diagonal, one column)?"""
    if same(a, b):
        return True
    near_a = list(ancestors(a, lambda each: each.op not in SAME_NUMBERS, most=8))
    near_b = list(ancestors(b, lambda each: each.op not in SAME_NUMBERS, most=8))
    return any(same(x, y) for x in near_a for y in near_b)
