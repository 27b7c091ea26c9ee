"""Whether a value can be exactly 0 or exactly 1, and which operation makes it so."""

from __future__ import annotations

from typing import Final

from sleuth.source.exponentials import sigmoid_by_hand, softmax_by_hand
from sleuth.source.precision import held
from sleuth.source.sites import Site
from sleuth.source.values import SAME_NUMBERS, Value, ancestors, made_by, same

# How many operations back a reason is looked for: a person follows no further, either.
_DEEPEST: Final = 10
# Their results are exactly 0 for ordinary inputs of float32.
_REACH_ZERO: Final = frozenset({"softmax", "sigmoid", "relu", "one_hot"})
_REACH_ONE: Final = frozenset({"softmax", "sigmoid", "tanh", "one_hot", "cosine_similarity"})
_KEEP_ZERO: Final = (SAME_NUMBERS - {"index"}) | {
    "symbolic",
    "min",
    "prod",
    "cumprod",
    "square",
    "abs",
    "sqrt",
    "neg",
    "dropout",
}
_KEEP_ONE: Final = SAME_NUMBERS | {"symbolic", "max", "square", "abs", "sqrt"}
# Behind these no gradient flows.
_CUT: Final = frozenset({"attr:data", "attr:grad", "detach", "stop_gradient", "numpy", "item"})
_CUT_WITHIN: Final = 8


class Reached:
    """That a value can be exactly at an edge, and why."""

    __slots__ = ("complement", "lost", "source")

    def __init__(self, source: Value, complement: bool = False, lost: Value | None = None) -> None:
        self.source = source  # made by the operation that reaches the edge
        self.complement = complement  # through 1 - x
        self.lost = lost  # a constant with an epsilon that its number type cannot hold

    def across(self, lost: Value | None = None) -> Reached:
        return Reached(self.source, not self.complement, lost or self.lost)


def zero_in_log(site: Site) -> Reached | None:
    """What makes the argument of a logarithm of tensors exactly 0."""
    argument = site.operand(0, "input", "x")
    return None if argument is None or site.result.kind != "tensor" else zero(argument)


def zero(value: Value, depth: int = _DEEPEST) -> Reached | None:
    """What makes it exactly 0, on every branch that leads here; None where nothing we see does."""
    if depth == 0 or (value.lo is not None and value.lo > 0) or (value.hi is not None and value.hi < 0):
        return None
    op, inputs = value.op, value.inputs
    if op in _REACH_ZERO:
        return Reached(value)
    if not inputs:
        return None
    if op == "phi":
        return _on_every_branch([zero(one, depth - 1) for one in inputs])
    if op in _KEEP_ZERO:
        return zero(inputs[0], depth - 1)
    rule = _ZERO_RULES.get(op)
    return None if rule is None else rule(value, inputs, depth - 1)


def one(value: Value, depth: int = _DEEPEST) -> Reached | None:
    """What makes it exactly 1."""
    if depth == 0 or (value.hi is not None and value.hi < 1) or (value.lo is not None and value.lo > 1):
        return None
    op, inputs = value.op, value.inputs
    if op in _REACH_ONE:
        return Reached(value)
    if not inputs:
        return None
    if op == "phi":
        return _on_every_branch([one(each, depth - 1) for each in inputs])
    if op in _KEEP_ONE:
        return one(inputs[0], depth - 1)
    rule = _ONE_RULES.get(op)
    return None if rule is None else rule(value, inputs, depth - 1)


def _on_every_branch(found: list[Reached | None]) -> Reached | None:
    return found[0] if all(each is not None for each in found) else None


def _zero_of_product(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    return next((found for each in inputs[:2] if (found := zero(each, depth)) is not None), None)


def _zero_of_quotient(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    if softmax_by_hand(value) is not None or sigmoid_by_hand(value) is not None:
        return Reached(value)
    return zero(inputs[0], depth)


def _zero_of_difference(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    if len(inputs) < 2 or not _is_one(inputs[0], value.dtype):
        return None
    found = one(inputs[1], depth)
    return None if found is None else found.across(inputs[0] if inputs[0].number() != 1 else None)


def _zero_of_sum_of_two(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    """`1 + (-p)` and `-p + 1`, or an epsilon that is itself 0 in the number type."""
    if len(inputs) < 2:
        return None
    for constant, other in (inputs[:2], inputs[1::-1]):
        number = constant.number()
        if number is not None and 0 < number < 1 and held(number, value.dtype) == 0:
            found = zero(other, depth)
            return None if found is None else Reached(found.source, found.complement, constant)
        if other.op == "neg" and _is_one(constant, value.dtype):
            found = one(other.inputs[0], depth)
            return None if found is None else found.across(constant if constant.number() != 1 else None)
    return None


def _zero_of_total(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    """A sum of what a ReLU let through, or of probabilities that a mask or one-hot rows pick."""
    found = zero(inputs[0], depth)
    if found is None or (found.source.op == "relu" and _lifted(found.source)):
        return None
    picked = made_by(inputs[0], "mul") is not None and value.op == "sum"
    return found if found.source.op in ("relu", "clamp", "maximum") or picked else None


def _lifted(relu: Value) -> bool:
    """relu(x + 0.1): who adds before may have seen to it that something is left."""
    added = made_by(relu.inputs[0], "add") if relu.inputs else None
    return added is not None and any((each.number() or 0) > 0 for each in added.inputs[:2])


def _zero_of_selection(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    """`p[p > 0]` keeps what the comparison says."""
    chosen = inputs[1] if len(inputs) > 1 else None
    return None if chosen is not None and made_by(chosen, "compare") is not None else zero(inputs[0], depth)


def _zero_of_clamp(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    low = lower_bound(value)
    bound = None if low is None else low.number()
    if low is not None and (bound is None or bound > 0):
        return None
    if bound == 0 and (inputs[0].lo is None or inputs[0].lo < 0):
        return Reached(value)
    return zero(inputs[0], depth)


def _zero_of_list(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    parts = (inputs[0].parts or [])[:8]
    return next((found for each in parts if (found := zero(each, depth)) is not None), None)


def _zero_of_power(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    exponent = inputs[1].number() if len(inputs) > 1 else None
    return zero(inputs[0], depth) if exponent is not None and exponent > 0 else None


def _one_of_power(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    exponent = inputs[1].number() if len(inputs) > 1 else None
    return one(inputs[0], depth) if exponent is not None and exponent > 0 else None


def _one_of_product(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    return _on_every_branch([one(each, depth) for each in inputs[:2]])


def _one_of_difference(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    if len(inputs) < 2 or not _is_one(inputs[0], value.dtype):
        return None
    found = zero(inputs[1], depth)
    return None if found is None else found.across()


def _one_of_quotient(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    by_hand = softmax_by_hand(value) is not None or sigmoid_by_hand(value) is not None
    return Reached(value) if by_hand else None


def _one_of_clamp(value: Value, inputs: tuple[Value, ...], depth: int) -> Reached | None:
    high = upper_bound(value)
    if high is None:
        return one(inputs[0], depth)
    number = high.number()
    if number is None or held(number, value.dtype) != 1:
        return None if number is None or number < 1 else one(inputs[0], depth)
    found = one(inputs[0], depth)
    return Reached(value if found is None else found.source, lost=high if number != 1 else None)


_ZERO_RULES: Final = {
    "mul": _zero_of_product,
    "div": _zero_of_quotient,
    "sub": _zero_of_difference,
    "add": _zero_of_sum_of_two,
    "sum": _zero_of_total,
    "mean": _zero_of_total,
    "max": _zero_of_total,
    "clamp": _zero_of_clamp,
    "maximum": _zero_of_clamp,
    "minimum": _zero_of_clamp,
    "index": _zero_of_selection,
    "cat": _zero_of_list,
    "stack": _zero_of_list,
    "pow": _zero_of_power,
}
_ONE_RULES: Final = {
    "mul": _one_of_product,
    "sub": _one_of_difference,
    "div": _one_of_quotient,
    "clamp": _one_of_clamp,
    "minimum": _one_of_clamp,
    "maximum": _one_of_clamp,
    "pow": _one_of_power,
}


def _is_one(value: Value, dtype: str | None) -> bool:
    number = value.number()
    if number is None:
        return value.lo == value.hi == 1 and value.op == "ones"
    return held(number, dtype) == 1


def lower_bound(value: Value) -> Value | None:
    """The lower bound a clamp or maximum was given."""
    if value.op == "minimum":
        return None
    return value.option("min", "a_min", "clip_value_min", "min_value") or _second(value, 1)


def upper_bound(value: Value) -> Value | None:
    if value.op == "maximum":
        return None
    position = 1 if value.op == "minimum" else 2
    return value.option("max", "a_max", "clip_value_max", "max_value") or _second(value, position)


def _second(value: Value, position: int) -> Value | None:
    given = value.inputs[position] if len(value.inputs) > position else None
    return None if given is None or given.const is None else given


def squared(value: Value) -> Value | None:
    """The x of `x ** 2`, `x.square()` or `x * x`."""
    made = made_by(value, "square", "pow", "mul")
    if made is None or not made.inputs:
        return None
    if made.op == "pow":
        return made.inputs[0] if len(made.inputs) > 1 and made.inputs[1].number() == 2 else None
    if made.op == "mul":
        return made.inputs[0] if len(made.inputs) > 1 and same(made.inputs[0], made.inputs[1]) else None
    return made.inputs[0]


def is_root(site: Site) -> bool:
    """sqrt(x) or x ** 0.5."""
    if site.op == "sqrt":
        return bool(site.operands)
    exponent = site.operand(1, "exponent")
    return site.op == "pow" and exponent is not None and exponent.number() == 0.5


def may_be_trained(site: Site) -> bool:
    """Could a gradient flow through the result?"""
    if site.result.kind != "tensor" or site.result.grad is False or site.spot.without_grad:
        return False
    if site.result.grad is True or not site.operands:
        return True
    return not any(each.op in _CUT for each in ancestors(site.operands[0], most=_CUT_WITHIN))


def trained_raw(value: Value) -> bool:
    """Is it made of a trained number that nothing bounds?"""
    return value.grad is True and value.hi is None
