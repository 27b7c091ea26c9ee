"""Quantisation as its definition computes it, in floating point: scale, round, clamp."""

from __future__ import annotations

import torch
from onnx import TensorProto

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.constants import type_of
from sleuth.compare.onnx_import.operations import TRANSLATIONS, Step, operation

_LIMITS = {
    torch.int8: (-128, 127),
    torch.uint8: (0, 255),
    torch.int16: (-32768, 32767),
    torch.int32: (-(2**31), 2**31 - 1),
}


def _spread(b: Builder, s: Step, parameter: Traced, value: Traced, axis: int) -> Traced:
    """A scale or zero point for each place of an axis, or each block of it, shaped to go with the value."""
    if parameter.example.numel() == 1 and parameter.rank <= 1:
        return b.call(aten.view.default, parameter, []) if parameter.rank else parameter
    axis %= value.rank
    if parameter.rank == 1:
        shape = [1] * value.rank
        shape[axis] = parameter.shape[0]
        return b.call(aten.view.default, parameter, shape)
    block = s.get("block_size", 0)
    if parameter.rank == value.rank and block:
        wide = b.call(aten.repeat_interleave.self_int, parameter, block, axis)
        return b.call(aten.slice.Tensor, wide, axis, 0, value.shape[axis])
    raise s.refuse("with scales of this shape")


@operation("QuantizeLinear")
def _quantise(b: Builder, s: Step) -> Traced:
    value, zero = s.inputs[0], s.input(2)
    dtype = type_of(b, s, s.get("output_dtype", 0) or TensorProto.UINT8) if zero is None else zero.dtype
    if dtype not in _LIMITS:
        raise s.refuse(f"to {dtype}".replace("torch.", ""))
    axis = s.get("axis", 1)
    value = value if value.floating else b.call(aten.to.dtype, value, b.real)
    scaled = b.call(aten.div.Tensor, value, _spread(b, s, s.inputs[1], value, axis))
    return _rounded(b, scaled, None if zero is None else _spread(b, s, zero, value, axis), dtype)


def _rounded(b: Builder, scaled: Traced, zero: Traced | None, dtype: torch.dtype) -> Traced:
    whole = b.call(aten.round.default, scaled)
    if zero is not None:
        whole = b.call(aten.add.Tensor, whole, b.call(aten.to.dtype, zero, b.real))
    return b.call(aten.to.dtype, b.call(aten.clamp.default, whole, *_LIMITS[dtype]), dtype)


@operation("DequantizeLinear")
def _dequantise(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    axis = s.get("axis", 1)
    wide = b.call(aten.to.dtype, value, b.real)
    if s.has(2):
        wide = b.call(aten.sub.Tensor, wide, b.call(aten.to.dtype, _spread(b, s, s.inputs[2], value, axis), b.real))
    return b.call(aten.mul.Tensor, wide, _spread(b, s, s.inputs[1], value, axis))


@operation("DynamicQuantizeLinear")
def _quantise_dynamically(b: Builder, s: Step) -> list[Traced]:
    value = s.inputs[0]
    low = b.call(aten.clamp.default, b.call(aten.amin.default, value), None, 0)
    high = b.call(aten.clamp.default, b.call(aten.amax.default, value), 0)
    scale = b.call(aten.div.Tensor, b.call(aten.sub.Tensor, high, low), 255.0)
    start = b.call(aten.div.Tensor, b.call(aten.neg.default, low), scale)
    zero = b.call(aten.clamp.default, b.call(aten.round.default, start), 0, 255)
    zero = b.call(aten.to.dtype, zero, torch.uint8)
    return [_rounded(b, b.call(aten.div.Tensor, value, scale), zero, torch.uint8), scale, zero]


def real_of(b: Builder, s: Step, value: Traced, scale: Traced, zero: Traced | None, axis: int) -> Traced:
    step = Step("DequantizeLinear", s.name, [value, scale, zero], [], s.opset, {"axis": axis}, builder=b)
    return _dequantise(b, step)


def quantised(b: Builder, s: Step, value: Traced, scale: Traced, zero: Traced) -> Traced:
    return _quantise(b, Step("QuantizeLinear", s.name, [value, scale, zero], [], s.opset, {"axis": -1}, builder=b))


@operation("QLinearMatMul")
def _quantised_matmul(b: Builder, s: Step) -> Traced:
    left, left_scale, left_zero, right, right_scale, right_zero, scale, zero = s.inputs
    product = b.call(
        aten.matmul.default,
        real_of(b, s, left, left_scale, left_zero, -2),
        real_of(b, s, right, right_scale, right_zero, -1),
    )
    return quantised(b, s, product, scale, zero)


@operation("QLinearConv")
def _quantised_conv(b: Builder, s: Step) -> Traced:
    value, value_scale, value_zero, weight, weight_scale, weight_zero, scale, zero = s.inputs[:8]
    real = real_of(b, s, value, value_scale, value_zero, 1)
    real_weight = real_of(b, s, weight, weight_scale, weight_zero, 0)
    bias = None
    if s.has(8):
        bias = b.call(
            aten.mul.Tensor,
            b.call(aten.to.dtype, s.inputs[8], b.real),
            b.call(aten.mul.Tensor, value_scale, weight_scale),
        )
    conv = Step("Conv", s.name, [real, real_weight, bias], s.outputs, s.opset, s.attributes, builder=b)
    result = TRANSLATIONS["Conv"](b, conv)
    assert isinstance(result, Traced)
    return quantised(b, s, result, scale, zero)
