"""What range the result of an operation keeps to, given those of its operands. None is: nothing is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sleuth.source.precision import RESOLUTION, SMALLEST_NORMAL, held
from sleuth.source.values import SAME_NUMBERS, Value, made_by, same

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


def of_finfo(info: Value, attribute: str) -> float | None:
    """torch.finfo(dtype).eps as a number; of float32 where the type is not known."""
    given = info.option("0", "type", "dtype")
    dtype = None if given is None else given.dtype
    if dtype is None and info.api == "numpy.finfo" and given is not None and not given.op:
        dtype = "float64"  # np.finfo(float)
    table = {"eps": RESOLUTION, "tiny": SMALLEST_NORMAL, "smallest_normal": SMALLEST_NORMAL}.get(attribute, {})
    return table.get(dtype or "float32")


FIXED: Final[dict[str, Range]] = {
    "softmax": (0.0, 1.0),
    "sigmoid": (0.0, 1.0),
    "log_softmax": (None, 0.0),
    "log_sigmoid": (None, 0.0),
    "softplus": (0.0, None),
    "relu": (0.0, None),
    "exp": (0.0, None),
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
    "normalize": (-1.0, 1.0),
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
    return _held(_plus(a.lo, b.lo), a, b), _held(_plus(a.hi, b.hi), a, b)


def _plus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def _held(bound: float | None, *operands: Value) -> float | None:
    """A bound as the tensor's type holds it: 1 + 1e-10 is 1 in float32. Other digits stay as people wrote them."""
    if bound is None or not any(one.kind == "tensor" for one in operands):
        return bound
    rounded = held(bound, next((one.dtype for one in operands if one.kind == "tensor" and one.dtype), None))
    return rounded if rounded == math.floor(bound + 0.5) else bound


def _sub(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    lo = _minus(_held(a.lo, a, b), _held(b.hi, a, b))
    hi = _minus(_held(a.hi, a, b), _held(b.lo, a, b))
    return _held(lo, a, b), _held(hi, a, b)


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _mul(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    if same(a, b):
        return 0.0, _largest_square(a)
    if a.lo is None and a.hi is None and b.lo is None and b.hi is None:
        return _NOTHING
    products = [_times(x, y) for x in _ends(a) for y in _ends(b)]
    return _finite(min(products)), _finite(max(products))


def _ends(value: Value) -> tuple[float, float]:
    return (-math.inf if value.lo is None else value.lo), (math.inf if value.hi is None else value.hi)


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0 or y == 0 else x * y


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _div(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return _NOTHING
    a, b = operands[:2]
    divisor = b.number()
    if divisor:
        ends = [end / divisor for end in _ends(a)]
        return _finite(min(ends)), _finite(max(ends))
    if b.lo is not None and b.lo >= 0:
        return (0.0 if a.lo is not None and a.lo >= 0 else None), (0.0 if a.hi is not None and a.hi <= 0 else None)
    return _NOTHING


def _pow(operands: Operands, _: Options) -> Range:
    exponent = operands[1].number() if len(operands) > 1 else None
    if exponent is None:
        return _NOTHING
    base = operands[0]
    if exponent == 2:
        return 0.0, _largest_square(base)
    if exponent % 2 == 0 and exponent > 0:
        return 0.0, None
    if base.lo is None or base.lo < 0:
        return _NOTHING
    return 0.0, (1.0 if base.hi is not None and base.hi <= 1 and exponent > 0 else None)


def _square(operands: Operands, _: Options) -> Range:
    base = operands[0]
    return (base.lo * base.lo if base.lo is not None and base.lo > 0 else 0.0), _largest_square(base)


def _largest_square(base: Value) -> float | None:
    return None if base.lo is None or base.hi is None else max(base.lo * base.lo, base.hi * base.hi)


def _neg(operands: Operands, _: Options) -> Range:
    lo, hi = operands[0].lo, operands[0].hi
    return (None if hi is None else -hi), (None if lo is None else -lo)


def _clamp(operands: Operands, options: Options) -> Range:
    low = _bound(operands, options, 1, "min", "a_min", "clip_value_min", "min_value")
    high = _bound(operands, options, 2, "max", "a_max", "clip_value_max", "max_value")
    inner = operands[0]
    return _held(_tighter(inner.lo, low, max), inner), _held(_tighter(inner.hi, high, min), inner)


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


def _largest(operands: Operands, options: Options) -> Range:
    """torch.max(a, b) is elementwise, torch.max(a, 1) is along an axis."""
    return _maximum(operands[: _tensors(operands)], options)


def _smallest(operands: Operands, options: Options) -> Range:
    return _minimum(operands[: _tensors(operands)], options)


def _tensors(operands: Operands) -> int:
    return 2 if len(operands) > 1 and operands[1].kind in ("tensor", "array") else 1


def _joined(operands: Operands, _: Options) -> Range:
    """All of the tensors in the list that cat and stack are given."""
    parts = operands[0].parts
    if not parts or not operands[0].exact or any(one.lo is None for one in parts):
        return _NOTHING
    highs = [one.hi for one in parts]
    top = None if None in highs else max(high for high in highs if high is not None)
    return min(one.lo for one in parts if one.lo is not None), top


def _filled(operands: Operands, options: Options) -> Range:
    value = options.get("value") or (operands[2] if len(operands) > 2 else None)
    return _NOTHING if value is None else _where([operands[0], operands[0], value], options)


def _matmul(operands: Operands, _: Options) -> Range:
    """The product of two sets of unit vectors holds their cosines."""
    both = len(operands) == 2 and all(made_by(one, "normalize") is not None for one in operands)
    return (-1.0, 1.0) if both else _NOTHING


def _minimum(operands: Operands, _: Options) -> Range:
    if len(operands) < 2:
        return operands[0].lo, operands[0].hi
    lows = [one.lo for one in operands]
    highs = [one.hi for one in operands if one.hi is not None]
    return (min(low for low in lows if low is not None) if None not in lows else None), (min(highs) if highs else None)


def _sum(operands: Operands, _: Options) -> Range:
    inner = operands[0]
    # The sum over an axis of softmax is 1, yet over a masked part it can be 0: only the sign is certain.
    return (inner.lo if inner.lo is not None and inner.lo >= 0 else None), (0.0 if inner.hi == 0 else None)


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
    "max": _largest,
    "min": _smallest,
    "square": _square,
    "cat": _joined,
    "stack": _joined,
    "masked_fill": _filled,
    "matmul": _matmul,
    "where": _where,
    "exp": _exp,
    "sqrt": _sqrt,
    "full": _full,
    "dropout": _same,
    "pool": _same,
    "tensor": _same,
}
