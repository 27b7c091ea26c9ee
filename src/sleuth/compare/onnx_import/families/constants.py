"""Values that are known from the model and the shapes of its inputs alone, and changes of type."""

from __future__ import annotations

from typing import Any

import torch
from onnx import TensorProto

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, as_torch, operation

_REALS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
_WHOLE = {
    TensorProto.BOOL: torch.bool,
    TensorProto.INT8: torch.int8,
    TensorProto.INT16: torch.int16,
    TensorProto.INT32: torch.int32,
    TensorProto.INT64: torch.int64,
    TensorProto.UINT8: torch.uint8,
    TensorProto.UINT16: torch.int64,
    TensorProto.UINT32: torch.int64,
    TensorProto.UINT64: torch.int64,
}


def type_of(b: Builder, s: Step, code: int) -> torch.dtype:
    """PyTorch's type for ONNX's; all that is floating point is as wide as the graph."""
    if code in _REALS:
        return b.real
    if code not in _WHOLE:
        name = TensorProto.DataType.Name(code).lower() if code in TensorProto.DataType.values() else str(code)
        raise s.refuse(f"to {name}")
    return _WHOLE[code]


@operation("Constant")
def _constant(b: Builder, s: Step) -> Traced:
    found = s.attributes
    if "value" in found:
        return b.constant(as_torch(found["value"]), s.outputs[0])
    for name, dtype in (
        ("value_float", torch.float32),
        ("value_floats", torch.float32),
        ("value_int", torch.int64),
        ("value_ints", torch.int64),
    ):
        if name in found:
            return b.constant(torch.tensor(found[name], dtype=dtype), s.outputs[0])
    raise s.refuse("of text or of a sparse tensor")


@operation("Shape")
def _shape(b: Builder, s: Step) -> Traced:
    shape = list(s.inputs[0].shape)
    return b.ints(shape[s.get("start", 0) : s.get("end", len(shape))])


@operation("Size")
def _size(b: Builder, s: Step) -> Traced:
    return b.constant(torch.tensor(s.inputs[0].example.numel()))


@operation("ConstantOfShape")
def _constant_of_shape(b: Builder, s: Step) -> Traced:
    filler = as_torch(s.get("value")) if s.get("value") is not None else torch.zeros(1)
    return b.constant(filler.reshape(-1)[0].expand(s.ints(0)).contiguous())


@operation("Range")
def _range(b: Builder, s: Step) -> Traced:
    start, limit, delta = (s.known(place).reshape(-1)[0].item() for place in range(3))
    dtype: torch.dtype = s.inputs[0].dtype
    return b.call(aten.arange.start_step, start, limit, delta, dtype=dtype)


@operation("EyeLike")
def _eye_like(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    dtype = type_of(b, s, s.get("dtype")) if s.get("dtype") else value.dtype
    rows, columns = value.shape
    line = torch.ones(rows, columns)
    shift = s.get("k", 0)
    return b.constant((torch.triu(line, shift) * torch.tril(line, shift)).to(dtype))


@operation("OneHot")
def _one_hot(b: Builder, s: Step) -> Traced:
    indices, depth, values = s.inputs[0], s.ints(1)[0], s.inputs[2]
    axis = s.get("axis", -1)
    axis = axis + indices.rank + 1 if axis < 0 else axis
    whole = b.call(aten.remainder.Scalar, b.call(aten.to.dtype, indices, torch.int64), depth)
    classes = b.ints(range(depth))
    classes = b.call(aten.view.default, classes, [depth, *[1] * (indices.rank - axis)])
    chosen = b.call(aten.eq.Tensor, b.call(aten.unsqueeze.default, whole, axis), classes)
    inside = b.call(
        aten.logical_and.default, b.call(aten.ge.Scalar, indices, -depth), b.call(aten.lt.Scalar, indices, depth)
    )
    chosen = b.call(aten.logical_and.default, chosen, b.call(aten.unsqueeze.default, inside, axis))
    off, on = (b.call(aten.select.int, values, 0, place) for place in range(2))
    return b.call(aten.where.self, chosen, on, off)


def cast(b: Builder, value: Traced, dtype: torch.dtype) -> Traced:
    return value if value.dtype == dtype else b.call(aten.to.dtype, value, dtype)


@operation("Cast")
def _cast(b: Builder, s: Step) -> Traced:
    return cast(b, s.inputs[0], type_of(b, s, s.get("to")))


@operation("CastLike")
def _cast_like(b: Builder, s: Step) -> Traced:
    return cast(b, s.inputs[0], s.inputs[1].dtype)


@operation("Identity")
def _identity(b: Builder, s: Step) -> Any:
    return [s.inputs[0]]


@operation("Dropout")
def _dropout(b: Builder, s: Step) -> list[Traced]:
    """As in evaluation; a dropout that is active is random, and nothing to compare with."""
    ratio = float(s.known(1)) if s.has(1) else s.get("ratio", 0.5)
    if s.has(2) and bool(s.known(2)) and ratio > 0:
        raise s.refuse("in training mode")
    value = s.inputs[0]
    return [value, b.call(aten.ones_like.default, value, dtype=torch.bool)] if s.wants(1) else [value]
