"""What range the result of an operation keeps to, given those of its operands. None is: nothing is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sleuth.source.values import SAME_NUMBERS, Value, same

Range = tuple[float | None, float | None]
_NOTHING: Final[Range] = (None, None)
Operands = Sequence[Value]
Options = Mapping[str, Value]


def of_result(operation: str, operands: Operands, options: Options) -> Range:
    """The lowest and highest value the result can have."""
    rule = _RULES.get(operation)
    if rule is not None:
        return rule(operands, options)
    if operation in SAME_NUMBERS and operands:
        return operands[0].lo, operands[0].hi
    return FIXED.get(operation, _NOTHING)


FIXED: Final[dict[str, Range]] = {
    "softmax": (0.0, 1.0),
    "sigmoid": (0.0, 1.0),
    "log_softmax": (None, 0.0),
    "log_sigmoid": (None, 0.0),
    "softplus": (0.0, None),
    "relu": (0.0, None),
    "exp": (0.0, None),
    "square": (0.0, None),
    "abs": (0.0, None),
    "sqrt": (0.0, None),
    "rsqrt": (0.0, None),
    "norm": (0.0, None),
    "cdist": (0.0, None),
    "std": (0.0, None),
    "var": (0.0, None),
    "tanh": (-1.0, 1.0),
    "sin": (-1.0, 1.0),
    "cosine_similarity": (-1.0, 1.0),
    "one_hot": (0.0, 1.0),
    "argmax": (0.0, None),
    "zeros": (0.0, 0.0),
    "ones": (1.0, 1.0),
    "rand": (0.0, 1.0),
    "count": (0.0, None),
    "len": (0.0, None),
    "bce": (0.0, None),
    "cross_entropy": (0.0, None),
    "mse": (0.0, None),
    "compare": (0.0, 1.0),
}


def _add(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    return _plus(a.lo, b.lo), _plus(a.hi, b.hi)


def _plus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def _sub(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    return _minus(a.lo, b.hi), _minus(a.hi, b.lo)


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _mul(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    if same(a, b):
        return 0.0, None
    bounds = (a.lo, a.hi, b.lo, b.hi)
    if all(bound is not None for bound in bounds):
        products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi) if x is not None and y is not None]
        return (min(products), max(products)) if not any(map(math.isnan, products)) else _NOTHING
    if a.lo is not None and b.lo is not None and a.lo >= 0 and b.lo >= 0:
        return a.lo * b.lo, None
    return _NOTHING


def _div(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    divisor = b.number()
    if divisor:
        ends = sorted(end / divisor for end in (a.lo, a.hi) if end is not None)
        if len(ends) == 2:
            return ends[0], ends[1]
        if a.lo is not None and divisor > 0:
            return a.lo / divisor, None
    if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo >= 0:
        return 0.0, None
    return _NOTHING


def _pow(operands: Operands, _: Options) -> Range:
    exponent = operands[1].number() if len(operands) > 1 else None
    if exponent is None:
        return _NOTHING
    if exponent % 2 == 0 and exponent > 0:
        return 0.0, None
    base = operands[0]
    return (0.0, None) if base.lo is not None and base.lo >= 0 else _NOTHING


def _neg(operands: Operands, _: Options) -> Range:
    lo, hi = operands[0].lo, operands[0].hi
    return (None if hi is None else -hi), (None if lo is None else -lo)


def _clamp(operands: Operands, options: Options) -> Range:
    low = _bound(operands, options, 1, "min", "a_min", "clip_value_min", "min_value")
    high = _bound(operands, options, 2, "max", "a_max", "clip_value_max", "max_value")
    inner = operands[0]
    return _tighter(inner.lo, low, max), _tighter(inner.hi, high, min)


def _bound(operands: Operands, options: Options, position: int, *names: str) -> float | None:
    given = next((options[name] for name in names if name in options), None)
    if given is None and len(operands) > position:
        given = operands[position]
    return None if given is None else given.lo if position == 1 else given.hi


def _tighter(a: float | None, b: float | None, choose: Callable[[float, float], float]) -> float | None:
    if a is None or b is None:
        return a if b is None else b
    return choose(a, b)


def _maximum(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return operands[0].lo, operands[0].hi
    lows = [one.lo for one in operands if one.lo is not None]
    highs = [one.hi for one in operands]
    return (max(lows) if lows else None), (max(h for h in highs if h is not None) if None not in highs else None)


def _minimum(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return operands[0].lo, operands[0].hi
    lows = [one.lo for one in operands]
    highs = [one.hi for one in operands if one.hi is not None]
    return (min(low for low in lows if low is not None) if None not in lows else None), (min(highs) if highs else None)


def _sum(operands: Operands, _: Options) -> Range:
    inner = operands[0]
    # The sum over an axis of softmax is 1, yet over a masked part it can be 0: only the sign is certain.
    return (0.0 if inner.lo is not None and inner.lo >= 0 else None), (0.0 if inner.hi == 0 else None)


def _same(operands: Operands, _: Options) -> Range:
    return operands[0].lo, operands[0].hi


def _where(operands: Operands, _: Options) -> Range:
    if len(operands) < 3:
        return _NOTHING
    a, b = operands[1:3]
    lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
    hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
    return lo, hi


def _exp(operands: Operands, _: Options) -> Range:
    inner = operands[0]
    lo = math.exp(inner.lo) if inner.lo is not None and -700 < inner.lo < 700 else 0.0
    hi = math.exp(inner.hi) if inner.hi is not None and inner.hi < 700 else None
    return lo, hi


def _sqrt(operands: Operands, _: Options) -> Range:
    inner = operands[0]
    lo = math.sqrt(inner.lo) if inner.lo is not None and inner.lo > 0 else 0.0
    return lo, (math.sqrt(inner.hi) if inner.hi is not None and inner.hi >= 0 else None)


def _full(operands: Operands, options: Options) -> Range:
    given = options.get("fill_value") or (operands[1] if len(operands) > 1 else None)
    return _NOTHING if given is None else (given.lo, given.hi)


_RULES: Final[dict[str, Callable[[Operands, Options], Range]]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "neg": _neg,
    "clamp": _clamp,
    "maximum": _maximum,
    "minimum": _minimum,
    "sum": _sum,
    "cumsum": _sum,
    "mean": _same,
    "max": _maximum,
    "min": _minimum,
    "where": _where,
    "exp": _exp,
    "sqrt": _sqrt,
    "full": _full,
    "dropout": _same,
    "pool": _same,
    "tensor": _same,
}
