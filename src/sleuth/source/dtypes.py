"""Which type the numbers of an operation's result have. None is: not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sleuth.source.names import DTYPES
from sleuth.source.values import SAME_NUMBERS, Value

Operands = Sequence[Value]
FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
INTEGERS: Final = ("bool", "uint8", "int8", "int16", "int32", "int64")
_RANK: Final = {name: rank for rank, name in enumerate((*INTEGERS, *FLOATS))}


def of_result(operation: str, operands: Operands, options: Mapping[str, Value], kind: str) -> str | None:
    """The type an operation's result has, for a tensor (`kind`) or a NumPy array."""
    asked = options.get("dtype")
    if asked is not None:
        return named(asked)
    fixed = _FIXED.get(operation)
    if fixed is not None:
        return fixed
    rule = _RULES.get(operation)
    if rule is not None:
        return rule(operands, kind)
    if not operands:
        return None
    if operation in _FLOATING:
        known = operands[0].dtype
        return _default_float(kind) if known in INTEGERS else known
    return operands[0].dtype if operation in _AS_BEFORE else None


def named(value: Value) -> str | None:
    """The type that torch.float32, numpy.float32, "float32" or another tensor's dtype stands for."""
    if value.dtype is not None:
        return value.dtype
    return DTYPES.get(value.const) if isinstance(value.const, str) else None


def of_call(name: str, operands: Operands) -> str | None:
    """The type that a function which is no operation gives."""
    if name == "torch.nn.Parameter":
        return operands[0].dtype if operands else None
    return _OF_CALLS.get(name)


def _default_float(kind: str) -> str:
    return "float64" if kind == "array" else "float32"


def _cast(operands: Operands, _: str) -> str | None:
    """to, type, cast: the type asked for; a device leaves it."""
    for one in operands[1:]:
        if one.kind in ("api", "dtype", "text") or (one.kind == "tensor" and one.dtype is not None):
            found = named(one)
            if found is not None:
                return found
            if one.kind != "text":
                return None
        elif one.kind != "device" and one.const is not True and one.const is not False:
            return None
    return operands[0].dtype if operands else None


def _filled(operands: Operands, kind: str) -> str | None:
    if operands and operands[0].kind in ("tensor", "array"):
        return operands[0].dtype
    if any(one.kind in ("api", "dtype", "text", "?") and one.node is not None for one in operands[1:]):
        return next((one.dtype for one in operands[1:] if one.dtype is not None), None)
    return _default_float(kind)


def _full(operands: Operands, kind: str) -> str | None:
    if operands and operands[0].kind in ("tensor", "array"):
        return operands[0].dtype
    return _of_literal(operands[1], kind) if len(operands) > 1 else None


def _tensor(operands: Operands, kind: str) -> str | None:
    if not operands:
        return None
    first = operands[0]
    return first.dtype if first.kind in ("tensor", "array") else _of_literal(first, kind)


def _of_literal(value: Value, kind: str) -> str | None:
    """What a number or a nested list of numbers becomes."""
    const = value.const
    if isinstance(const, bool):
        return "bool"
    if isinstance(const, int):
        return "int64"
    if isinstance(const, float):
        return _default_float(kind)
    if value.kind != "sequence" or not value.parts or not value.exact:
        return None
    types = [_of_literal(part, kind) for part in value.parts]
    return max((one for one in types if one), key=_RANK.__getitem__) if None not in types else None


def _promoted(operands: Operands, kind: str) -> str | None:
    if len(operands) < 2:
        return operands[0].dtype if operands else None
    a, b = operands[:2]
    if a.kind == "number" or b.kind == "number":
        number, other = (a, b) if a.kind == "number" else (b, a)
        if other.dtype not in INTEGERS:
            return other.dtype
        # A whole number leaves integers alone; of a number not known it may be either.
        return _default_float(kind) if isinstance(number.const, float) else other.dtype if number.const == 1 else None
    if a.dtype is None or b.dtype is None:
        return None
    return max(a.dtype, b.dtype, key=lambda name: _RANK.get(name, 0))


def _divided(operands: Operands, kind: str) -> str | None:
    promoted = _promoted(operands, kind)
    return _default_float(kind) if promoted in INTEGERS else promoted


def _chosen(operands: Operands, kind: str) -> str | None:
    return _promoted(operands[1:3], kind) if len(operands) > 2 else None


def _summed(operands: Operands, _: str) -> str | None:
    known = operands[0].dtype if operands else None
    return "int64" if known in INTEGERS else known


def _gathered(operands: Operands, _: str) -> str | None:
    parts = operands[0].parts if operands else None
    if not parts:
        return None
    types = {part.dtype for part in parts}
    return types.pop() if len(types) == 1 else None


_FIXED: Final = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "argmax": "int64",
    "randint": "int64",
    "isnan": "bool",
    "embedding": "float32",
    "call:bool": "bool",
    "call:byte": "uint8",
    "call:short": "int16",
    "call:char": "int8",
    "call:eq": "bool",
    "call:ne": "bool",
    "call:gt": "bool",
    "call:ge": "bool",
    "call:lt": "bool",
    "call:le": "bool",
}
_FLOATING: Final = frozenset(
    "exp log log1p log2 log10 expm1 sqrt rsqrt sigmoid tanh softmax log_softmax softplus log_sigmoid logsumexp "
    "sin acos asin atanh acosh norm normalize std var mean leaky_relu reciprocal linear conv batch_norm "
    "recurrent".split()
)
_AS_BEFORE: Final = SAME_NUMBERS | frozenset(
    "relu abs neg square clamp dropout masked_fill pad pool adaptive_pool upsample triu topk max min scale "
    "index".split()
)
_RULES: Final[dict[str, Callable[[Operands, str], str | None]]] = {
    "to": _cast,
    "type": _cast,
    "cast": _cast,
    "zeros": _filled,
    "ones": _filled,
    "empty": _filled,
    "rand": _filled,
    "randn": _filled,
    "eye": _filled,
    "full": _full,
    "tensor": _tensor,
    "as_tensor": _tensor,
    "add": _promoted,
    "sub": _promoted,
    "mul": _promoted,
    "pow": _promoted,
    "maximum": _promoted,
    "minimum": _promoted,
    "matmul": _promoted,
    "div": _divided,
    "where": _chosen,
    "sum": _summed,
    "prod": _summed,
    "cumsum": _summed,
    "cat": _gathered,
    "stack": _gathered,
}
_OF_CALLS: Final = {
    "numpy.random.rand": "float64",
    "numpy.random.randn": "float64",
    "numpy.random.normal": "float64",
    "numpy.random.uniform": "float64",
    "numpy.random.random": "float64",
    "numpy.random.random_sample": "float64",
    "numpy.random.standard_normal": "float64",
    "numpy.random.randint": "int64",
    "numpy.loadtxt": "float64",
    "numpy.genfromtxt": "float64",
    "torch.FloatTensor": "float32",
    "torch.Tensor": "float32",
    "torch.LongTensor": "int64",
    "torch.randperm": "int64",
}
