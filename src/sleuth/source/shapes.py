"""The shape a value surely has, where literals tell it. None is: not known; None inside is a size not known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Final

from sleuth.source import layer_shapes
from sleuth.source.operations import OF_LAYER
from sleuth.source.values import Value

Shape = tuple[int | None, ...]
Operands = Sequence[Value]
Options = Mapping[str, Value]
Rule = Callable[[Operands, Options], Shape | None]
# More dimensions than any real tensor has: a list of numbers taken for sizes by mistake.
_MOST_DIMENSIONS: Final = 8
_DEEPEST_WALK: Final = 40


def of_result(operation: str, operands: Operands, options: Options) -> Shape | None:
    """The shape an operation's result has."""
    if operation in _SAME_SHAPE:
        return operands[0].shape if operands else None
    rule = _RULES.get(operation)
    return rule(operands, options) if rule is not None else None


def of_layer(layer: Value, operands: Operands) -> Shape | None:
    """The shape a layer gives for what it was given."""
    return layer_shapes.of_layer(layer, operands[0].shape if operands else None)


def operation_of_layer(layer: Value) -> str:
    return OF_LAYER.get(layer.api, "module") if layer.kind == "module" else "module"


def of_call(name: str, operands: Operands, options: Options) -> Shape | None:
    """The shape that a function which is no operation gives: keras.Input, numpy.random.rand, torch.Tensor …"""
    rule = _OF_CALLS.get(name)
    return rule(operands, options) if rule is not None else None


def last_size(value: Value) -> int | None:
    """The size of the last axis, also where nothing else of the shape is known: behind Linear(8, 4) it is 4."""
    for _ in range(_DEEPEST_WALK):
        if value.shape is not None:
            return value.shape[-1] if value.shape else None
        if value.op in ("linear", "embedding", "recurrent") and len(value.inputs) > 1:
            return layer_shapes.last_size_behind(value.inputs[-1])
        if value.op not in _KEEP_LAST_AXIS or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def dimension_read(value: Value) -> tuple[Value, int] | None:
    """The tensor and axis a number was read from: `x.size(1)`, `x.shape[1]`, the second of `b, c = x.shape`."""
    source = value.inputs[0] if value.inputs else None
    if source is None:
        return None
    if value.op == "size" and len(value.inputs) > 1 and isinstance(value.inputs[1].const, int):
        return source, value.inputs[1].const
    if value.op == "len" and source.kind in ("tensor", "array"):
        return source, 0
    if source.op != "attr:shape" or not source.inputs:
        return None
    if value.op == "index" and len(value.inputs) > 1 and isinstance(value.inputs[1].const, int):
        return source.inputs[0], value.inputs[1].const
    if value.op.startswith("item:"):
        return source.inputs[0], int(value.op[5:])
    return None


def sizes_given(operands: Operands) -> list[Value] | None:
    """The sizes of `view(2, 3)` or `view((2, 3))`, one value each; None where their number is not known."""
    if len(operands) == 1:
        only = operands[0]
        if only.kind == "sequence":
            return only.parts if only.exact and only.parts is not None else None
        if only.kind != "number" or only.op == "attr:shape":
            return None
    return list(operands) if 0 < len(operands) <= _MOST_DIMENSIONS else None


def size_of(value: Value) -> int | None:
    """The whole number a value is, by itself or as an axis of a tensor whose size is known."""
    const = value.const
    if isinstance(const, int) and not isinstance(const, bool):
        return const
    read = dimension_read(value) if value.kind == "number" else None
    if read is None or read[0].shape is None:
        return None
    shape, axis = read[0].shape, read[1]
    return shape[axis] if -len(shape) <= axis < len(shape) else None


def _number(value: Value | None) -> int | None:
    return None if value is None else size_of(value)


def _axis(value: Value | None, rank: int) -> int | None:
    number = _number(value)
    return None if number is None or not -rank <= number < rank else number % rank


def _filled(operands: Operands, options: Options) -> Shape | None:
    """zeros, ones, rand …: of sizes, of a tensor's shape, or `x.new_zeros(2, 3)`."""
    given = options.get("size") or options.get("shape")
    if given is not None:
        return _read_sizes([given])
    if operands and operands[0].kind in ("tensor", "array"):
        return operands[0].shape if len(operands) == 1 else _read_sizes(_before_options(operands[1:]))
    sequence = next((one for one in operands if one.kind == "sequence"), None)
    if sequence is not None:
        return _read_sizes([sequence])
    return _read_sizes(_before_options(operands))


def _before_options(operands: Operands) -> Operands:
    """Sizes end where a dtype or a name begins."""
    count = next((i for i, one in enumerate(operands) if one.kind in ("api", "dtype", "text")), len(operands))
    return operands[:count]


def _read_sizes(operands: Operands) -> Shape | None:
    if len(operands) == 1 and operands[0].op == "attr:shape" and operands[0].inputs:
        return operands[0].inputs[0].shape
    given = sizes_given(operands)
    if given is None:
        return None
    sizes = [size_of(one) for one in given]
    if any(isinstance(one.const, float) for one in given) or any(size is not None and size < 0 for size in sizes):
        return None
    return tuple(sizes)


def _full(operands: Operands, options: Options) -> Shape | None:
    if operands and operands[0].kind in ("tensor", "array"):
        return _read_sizes(operands[1:2]) if len(operands) > 2 else operands[0].shape
    given = options.get("size") or options.get("shape") or (operands[0] if operands else None)
    return None if given is None else _read_sizes([given])


def _sized_last(operands: Operands, options: Options) -> Shape | None:
    """randint(low, high, size), normal(mean, std, size): only a sequence or a named size is surely the size."""
    given = options.get("size") or options.get("shape")
    if given is None:
        given = next((one for one in operands if one.kind == "sequence"), None)
    return None if given is None else _read_sizes([given])


def _literal(operands: Operands, _: Options) -> Shape | None:
    if not operands:
        return None
    first = operands[0]
    if first.kind in ("tensor", "array"):
        return first.shape
    return _shape_of_literal(first)


def _shape_of_literal(value: Value) -> Shape | None:
    if value.kind == "number":
        return ()
    if value.kind != "sequence" or value.parts is None or not value.exact:
        return None
    if not value.parts:
        return (0,)
    inner = _shape_of_literal(value.parts[0])
    return None if inner is None else (len(value.parts), *inner)


def _reshaped(operands: Operands, options: Options) -> Shape | None:
    if not operands:
        return None
    given = options.get("shape") or options.get("newshape") or options.get("size")
    asked = sizes_given([given] if given is not None else operands[1:])
    if asked is None or any(one.kind in ("api", "dtype", "text") for one in asked):
        return None
    before = operands[0].shape
    sizes = [size_of(one) for one in asked]
    if -1 in sizes:
        sizes[sizes.index(-1)] = _rest(asked, sizes, operands[0], before)
    return tuple(None if size is None or size < 0 else size for size in sizes)


def _rest(asked: list[Value], sizes: list[int | None], tensor: Value, before: Shape | None) -> int | None:
    """What -1 stands for."""
    if before is None:
        return None
    unknown = [i for i, size in enumerate(sizes) if size is None]
    left, known = list(before), [size for size in sizes if size is not None and size >= 0]
    if unknown == [0] and before and before[0] is None and _is_batch_size(asked[0]):
        left = left[1:]  # the unknown size is kept, as in x.view(x.size(0), -1)
    elif unknown:
        return None
    if None in left:
        return None
    total, divisor = prod(size for size in left if size is not None), prod(known)
    return total // divisor if divisor and total % divisor == 0 else None


def _is_batch_size(value: Value) -> bool:
    read = dimension_read(value)
    return read is not None and read[1] == 0


def _flattened(operands: Operands, options: Options) -> Shape | None:
    if not operands:
        return None
    first = options.get("start_dim") or (operands[1] if len(operands) > 1 else None)
    last = options.get("end_dim") or (operands[2] if len(operands) > 2 else None)
    if first is not None and (isinstance(first.const, str) or _number(first) is None):
        return None
    start, end = (0 if first is None else _number(first) or 0), (-1 if last is None else _number(last))
    return None if end is None else layer_shapes.flattened(operands[0].shape, start, end)


def _unflattened(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    sizes = options.get("sizes") or (operands[2] if len(operands) > 2 else None)
    axis = options.get("dim") or (operands[1] if len(operands) > 1 else None)
    at = _axis(axis, len(shape)) if shape is not None else None
    given = sizes_given([sizes]) if sizes is not None else None
    if shape is None or at is None or given is None:
        return None
    return (*shape[:at], *(size if (size := size_of(one)) != -1 else None for one in given), *shape[at + 1 :])


def _unbound(operands: Operands, options: Options) -> Shape | None:
    """One of the tensors that unbind gives."""
    shape = operands[0].shape if operands else None
    dim = options.get("dim") or (operands[1] if len(operands) > 1 else None)
    at = 0 if dim is None else _axis(dim, len(shape)) if shape is not None else None
    return None if not shape or at is None else (*shape[:at], *shape[at + 1 :])


def _pieces(operands: Operands, options: Options) -> Shape | None:
    """One of the tensors that chunk or split gives."""
    shape = operands[0].shape if operands else None
    dim = options.get("dim") or (operands[2] if len(operands) > 2 else None)
    at = 0 if dim is None else _axis(dim, len(shape)) if shape is not None else None
    return None if not shape or at is None else (*shape[:at], None, *shape[at + 1 :])


def _squeezed(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    if shape is None:
        return None
    dim = options.get("dim") or options.get("axis") or (operands[1] if len(operands) > 1 else None)
    if dim is None:
        return tuple(size for size in shape if size != 1) if None not in shape else None
    at = _axis(dim, len(shape))
    if at is None or shape[at] is None:
        return None
    return (*shape[:at], *shape[at + 1 :]) if shape[at] == 1 else shape


def _unsqueezed(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    dim = options.get("dim") or options.get("axis") or (operands[1] if len(operands) > 1 else None)
    at = _axis(dim, len(shape) + 1) if shape is not None else None
    return None if shape is None or at is None else (*shape[:at], 1, *shape[at:])


def _transposed(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    if shape is None:
        return None
    order = options.get("axes") or options.get("perm")
    if order is not None or len(operands) > 3 or (len(operands) == 2 and operands[1].kind == "sequence"):
        return _permuted([operands[0], *([order] if order is not None else operands[1:])], {})
    if len(operands) == 1 and not options:
        return shape[::-1] if len(shape) == 2 or operands[0].kind == "array" else None
    a = _axis(options.get("dim0") or (operands[1] if len(operands) > 1 else None), len(shape))
    b = _axis(options.get("dim1") or (operands[2] if len(operands) > 2 else None), len(shape))
    if a is None or b is None:
        return (None,) * len(shape)
    sizes = list(shape)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    return tuple(sizes)


def _permuted(operands: Operands, options: Options) -> Shape | None:
    order = permutation(operands, options)
    shape = operands[0].shape if operands else None
    if order is None:
        return None if shape is None else (None,) * len(shape)
    if shape is None:
        return (None,) * len(order)
    return tuple(shape[i] for i in order) if len(order) == len(shape) else None


def permutation(operands: Operands, options: Options) -> tuple[int, ...] | None:
    """The order of axes that `permute(0, 2, 1)` asks for."""
    given = options.get("dims") or options.get("axes")
    asked = sizes_given([given] if given is not None else operands[1:])
    if asked is None or len(asked) < 3:
        return None  # two numbers may as well be those of movedim
    numbers = [size_of(one) for one in asked]
    if any(number is None or not -len(numbers) <= number < len(numbers) for number in numbers):
        return None
    order = tuple(number % len(numbers) for number in numbers if number is not None)
    return order if sorted(order) == list(range(len(order))) else None


def _joined_along(operands: Operands, options: Options) -> Shape | None:
    parts = operands[0].parts if operands and operands[0].exact else None
    dim = options.get("dim") or options.get("axis") or (operands[1] if len(operands) > 1 else None)
    if not parts:
        return None
    known = [part.shape for part in parts]
    rank = next((len(shape) for shape in known if shape is not None), None)
    if rank is None or any(shape is not None and len(shape) != rank for shape in known):
        return None
    at = _axis(dim, rank)
    if at is None:
        return (None,) * rank
    sizes: list[int | None] = [_common([s[i] for s in known if s is not None]) for i in range(rank)]
    along = [None if shape is None else shape[at] for shape in known]
    sizes[at] = sum(size for size in along if size is not None) if None not in along else None
    return tuple(sizes)


def _common(sizes: list[int | None]) -> int | None:
    return next((size for size in sizes if size is not None), None)


def _stacked(operands: Operands, options: Options) -> Shape | None:
    parts = operands[0].parts if operands and operands[0].exact else None
    dim = options.get("dim") or options.get("axis") or (operands[1] if len(operands) > 1 else None)
    if not parts or parts[0].shape is None:
        return None
    inner = parts[0].shape
    at = 0 if dim is None else _axis(dim, len(inner) + 1)
    return None if at is None else (*inner[:at], len(parts), *inner[at:])


def _reduced(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    if shape is None:
        return None
    dim = options.get("dim") or options.get("axis") or (operands[1] if len(operands) > 1 else None)
    if dim is None:
        return ()
    keep = options.get("keepdim") or options.get("keepdims") or (operands[2] if len(operands) > 2 else None)
    if keep is not None and not isinstance(keep.const, bool):
        return None
    asked = sizes_given([dim]) if dim.kind == "sequence" else [dim]
    axes = [_axis(one, len(shape)) for one in asked] if asked is not None else [None]
    if None in axes:
        return None
    if keep is not None and keep.const:
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _broadcast(operands: Operands, _: Options) -> Shape | None:
    result: Shape = ()
    for one in operands:
        if one.kind == "number":
            continue
        if one.shape is None:
            return None
        result = broadcast(result, one.shape)
    return result


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b."""
    rank = max(len(a), len(b))
    wide_a, wide_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(
        y if x == 1 else x if y == 1 or x == y else x if y is None else y if x is None else None
        for x, y in zip(wide_a, wide_b, strict=True)
    )


def _where(operands: Operands, options: Options) -> Shape | None:
    return _broadcast(operands, options) if len(operands) == 3 else None


def _matmul(operands: Operands, _: Options) -> Shape | None:
    if len(operands) != 2 or operands[0].shape is None or operands[1].shape is None:
        return None
    a, b = operands[0].shape, operands[1].shape
    if len(a) < 2 or len(b) < 2:
        return None
    return (*broadcast(a[:-2], b[:-2]), a[-2], b[-1])


def _indexed(operands: Operands, _: Options) -> Shape | None:
    shape = operands[0].shape
    if shape is None:
        return None
    if len(operands) == 1:
        return shape[1:]
    node = operands[1].node
    entries = node.elts if isinstance(node, ast.Tuple) else [node]
    used = sum(not (isinstance(one, ast.Constant) and one.value in (None, ...)) for one in entries)
    result: list[int | None] = []
    at = 0
    for one in entries:
        if isinstance(one, ast.Constant) and one.value is None:
            result.append(1)
        elif isinstance(one, ast.Constant) and one.value is ...:
            count = len(shape) - used
            result += shape[at : at + count]
            at += count
        elif isinstance(one, ast.Slice):
            whole = one.lower is one.upper is one.step is None
            result.append(shape[at] if whole and at < len(shape) else None)
            at += 1
        elif _is_whole_number(one):
            at += 1
        else:
            return None
    return (*result, *shape[at:]) if at <= len(shape) else None


def _is_whole_number(node: ast.AST | None) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _pooled(operands: Operands, options: Options) -> Shape | None:
    """F.max_pool2d(x, 2): how many axes it is over is told by the rank of what it gets."""
    shape = operands[0].shape if operands else None
    if shape is None or len(shape) not in (4, 5):
        return None
    if len(operands) > 5:
        return None  # ceil_mode and what follows it stand elsewhere than in the layer
    given = {**{str(i - 1): one for i, one in enumerate(operands) if i}, **options}
    return layer_shapes.pooled(given, shape, len(shape) - 2)


def _pooled_to(operands: Operands, options: Options) -> Shape | None:
    size = options.get("output_size") or (operands[1] if len(operands) > 1 else None)
    shape = operands[0].shape if operands else None
    return layer_shapes.pooled_to(size, shape, len(shape) - 2) if shape is not None and len(shape) > 3 else None


def _resized(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    given = {**{str(i - 1): one for i, one in enumerate(operands) if i}, **options}
    return None if shape is None or len(shape) < 3 else layer_shapes.resized(given, shape)


def _padded(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands and operands[0].kind == "tensor" else None
    given = options.get("pad") or (operands[1] if len(operands) > 1 else None)
    amounts = [size_of(one) for one in sizes_given([given]) or []] if given is not None else []
    if shape is None or not amounts or None in amounts or len(amounts) % 2 or len(amounts) > 2 * len(shape):
        return None
    sizes = list(shape)
    for i in range(len(amounts) // 2):
        size, left, right = sizes[-1 - i], amounts[2 * i], amounts[2 * i + 1]
        sizes[-1 - i] = None if size is None or left is None or right is None else size + left + right
    return tuple(sizes)


def _one_hot(operands: Operands, options: Options) -> Shape | None:
    shape = operands[0].shape if operands else None
    classes = options.get("num_classes") or options.get("depth") or (operands[1] if len(operands) > 1 else None)
    return None if shape is None else (*shape, _number(classes) if classes is not None else None)


def _keras_input(operands: Operands, options: Options) -> Shape | None:
    given = options.get("shape") or (operands[0] if operands else None)
    whole = options.get("batch_shape")
    if whole is not None:
        return _shape_with_none(whole)
    inner = None if given is None else _shape_with_none(given)
    return None if inner is None else (_number(options.get("batch_size")), *inner)


def _shape_with_none(value: Value) -> Shape | None:
    if value.kind != "sequence" or value.parts is None or not value.exact:
        return None
    return tuple(size_of(part) for part in value.parts)


def _random_array(operands: Operands, options: Options) -> Shape | None:
    return _read_sizes(operands) if operands else ()


def _with_key(operands: Operands, options: Options) -> Shape | None:
    given = options.get("shape") or (operands[1] if len(operands) > 1 else None)
    return None if given is None or given.kind != "sequence" else _read_sizes([given])


def _constructed(operands: Operands, options: Options) -> Shape | None:
    """torch.Tensor(2, 3) is a size, torch.Tensor([2, 3]) a value."""
    if len(operands) == 1 and operands[0].kind in ("sequence", "tensor", "array"):
        return _literal(operands, options)
    return _read_sizes(operands)


_SAME_SHAPE: Final = frozenset(
    "relu leaky_relu sigmoid log_sigmoid tanh softmax log_softmax softplus exp expm1 log log1p log2 log10 sqrt "
    "rsqrt square abs neg clamp reciprocal sin acos asin atanh acosh erfinv lgamma dropout batch_norm normalize "
    "masked_fill contiguous clone copy detach stop_gradient data to cpu cuda float double half bfloat16 long type "
    "cast triu cumsum cumprod requires_grad_ identity numpy from_numpy as_tensor isnan scale roll flip "
    "checkpoint".split()
)
# Operations behind which the last axis is as long as before.
_KEEP_LAST_AXIS: Final = frozenset(
    "relu leaky_relu sigmoid log_sigmoid tanh softmax log_softmax softplus dropout batch_norm normalize "
    "contiguous clone detach to cpu cuda float double half bfloat16 identity checkpoint".split()
)
_RULES: Final[dict[str, Rule]] = {
    "zeros": _filled,
    "ones": _filled,
    "empty": _filled,
    "rand": _filled,
    "randn": _filled,
    "randint": _sized_last,
    "full": _full,
    "tensor": _literal,
    "view": _reshaped,
    "reshape": _reshaped,
    "flatten": _flattened,
    "unflatten": _unflattened,
    "call:unbind": _unbound,
    "call:chunk": _pieces,
    "call:split": _pieces,
    "squeeze": _squeezed,
    "unsqueeze": _unsqueezed,
    "transpose": _transposed,
    "permute": _permuted,
    "cat": _joined_along,
    "stack": _stacked,
    "sum": _reduced,
    "mean": _reduced,
    "prod": _reduced,
    "std": _reduced,
    "var": _reduced,
    "logsumexp": _reduced,
    "add": _broadcast,
    "sub": _broadcast,
    "mul": _broadcast,
    "div": _broadcast,
    "pow": _broadcast,
    "maximum": _broadcast,
    "minimum": _broadcast,
    "where": _where,
    "matmul": _matmul,
    "index": _indexed,
    "pool": _pooled,
    "adaptive_pool": _pooled_to,
    "upsample": _resized,
    "pad": _padded,
    "one_hot": _one_hot,
}
_OF_CALLS: Final[dict[str, Rule]] = {
    "keras.Input": _keras_input,
    "numpy.random.rand": _random_array,
    "numpy.random.randn": _random_array,
    "numpy.random.random": _sized_last,
    "numpy.random.normal": _sized_last,
    "numpy.random.uniform": _sized_last,
    "numpy.random.randint": _sized_last,
    "numpy.random.random_sample": _sized_last,
    "jax.random.normal": _with_key,
    "jax.random.uniform": _with_key,
    "tensorflow.random.normal": _sized_last,
    "tensorflow.random.uniform": _sized_last,
    "torch.Tensor": _constructed,
    "torch.FloatTensor": _constructed,
    "torch.LongTensor": _constructed,
    "torch.nn.Parameter": _literal,
    "torch.unbind": _unbound,
    "torch.chunk": _pieces,
    "torch.split": _pieces,
}
