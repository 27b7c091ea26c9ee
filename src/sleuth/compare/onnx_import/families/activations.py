"""Activations, and the functions that make a distribution of numbers."""

from __future__ import annotations

import math
from typing import Any

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import TRANSLATIONS, Step, operation

_OF_ONE = {
    "Mish": aten.mish.default,
    "Relu": aten.relu.default,
    "Sigmoid": aten.sigmoid.default,
    "Softplus": aten.softplus.default,
    "Tanh": aten.tanh.default,
}
TRANSLATIONS.update(
    {name: (lambda target: lambda b, s: b.call(target, s.inputs[0]))(of) for name, of in _OF_ONE.items()}
)


@operation("Gelu")
def _gelu(b: Builder, s: Step) -> Traced:
    return b.call(aten.gelu.default, s.inputs[0], approximate=s.get("approximate", "none"))


@operation("LeakyRelu")
def _leaky_relu(b: Builder, s: Step) -> Traced:
    return b.call(aten.leaky_relu.default, s.inputs[0], s.get("alpha", 0.01))


@operation("PRelu")
def _prelu(b: Builder, s: Step) -> Traced:
    value, slope = s.inputs
    per_channel = value.rank > 1 and slope.rank >= value.rank - 1 and slope.example.numel() == value.shape[1]
    if per_channel and slope.shape[slope.rank - value.rank + 1 if slope.rank == value.rank else 0] == value.shape[1]:
        return b.call(aten.prelu.default, value, b.call(aten.view.default, slope, [value.shape[1]]))
    if slope.example.numel() == 1:
        return b.call(aten.prelu.default, value, b.call(aten.view.default, slope, [1]))
    return b.call(aten.where.self, b.call(aten.lt.Scalar, value, 0), b.call(aten.mul.Tensor, value, slope), value)


@operation("Elu")
def _elu(b: Builder, s: Step) -> Traced:
    return b.call(aten.elu.default, s.inputs[0], s.get("alpha", 1.0))


@operation("Selu")
def _selu(b: Builder, s: Step) -> Traced:
    alpha, gamma = s.get("alpha", 1.6732632), s.get("gamma", 1.050701)
    if math.isclose(alpha, 1.6732632, rel_tol=1e-6) and math.isclose(gamma, 1.050701, rel_tol=1e-6):
        return b.call(aten.selu.default, s.inputs[0])
    return b.call(aten.elu.default, s.inputs[0], alpha, gamma)


@operation("Celu")
def _celu(b: Builder, s: Step) -> Traced:
    return b.call(aten.celu.default, s.inputs[0], s.get("alpha", 1.0))


@operation("HardSigmoid")
def _hard_sigmoid(b: Builder, s: Step) -> Traced:
    alpha, beta = s.get("alpha", 0.2), s.get("beta", 0.5)
    if math.isclose(alpha, 1 / 6, rel_tol=1e-6) and beta == 0.5:
        return b.call(aten.hardsigmoid.default, s.inputs[0])
    line = b.call(aten.add.Tensor, b.call(aten.mul.Tensor, s.inputs[0], alpha), beta)
    return b.call(aten.clamp.default, line, 0, 1)


@operation("HardSwish")
def _hard_swish(b: Builder, s: Step) -> Traced:
    return b.call(aten.hardswish.default, s.inputs[0])


@operation("Swish")
def _swish(b: Builder, s: Step) -> Traced:
    value, alpha = s.inputs[0], s.get("alpha", 1.0)
    if alpha == 1.0:
        return b.call(aten.silu.default, value)
    return b.call(aten.mul.Tensor, value, b.call(aten.sigmoid.default, b.call(aten.mul.Tensor, value, alpha)))


@operation("Softsign")
def _softsign(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    return b.call(aten.div.Tensor, value, b.call(aten.add.Tensor, b.call(aten.abs.default, value), 1))


@operation("ThresholdedRelu")
def _thresholded_relu(b: Builder, s: Step) -> Traced:
    return b.call(aten.threshold.default, s.inputs[0], s.get("alpha", 1.0), 0)


@operation("Shrink")
def _shrink(b: Builder, s: Step) -> Traced:
    value, bias, edge = s.inputs[0], s.get("bias", 0.0), s.get("lambd", 0.5)
    if not value.floating:
        real = b.call(aten.to.dtype, value, b.real)
        s.inputs[0] = real
        return b.call(aten.to.dtype, _shrink(b, s), value.dtype)
    if bias == 0:
        return b.call(aten.hardshrink.default, value, edge)
    if bias == edge:
        return b.call(aten.softshrink.default, value, edge)
    kept = b.call(aten.hardshrink.default, value, edge)
    return b.call(aten.sub.Tensor, kept, b.call(aten.mul.Tensor, b.call(aten.sign.default, kept), bias))


@operation("Softmax", "LogSoftmax", "Hardmax")
def _along_axis(b: Builder, s: Step) -> Traced:
    """Before version 13 all axes from the given one on were one."""
    value = s.inputs[0]
    if s.opset >= 13:
        return _distribution(b, s.op, value, s.get("axis", -1))
    axis = s.get("axis", 1) % max(value.rank, 1)
    if axis == value.rank - 1:
        return _distribution(b, s.op, value, axis)
    flat = b.call(aten.view.default, value, [math.prod(value.shape[:axis]), math.prod(value.shape[axis:])])
    return b.call(aten.view.default, _distribution(b, s.op, flat, 1), list(value.shape))


def _distribution(b: Builder, op: str, value: Traced, axis: int) -> Traced:
    if op == "Hardmax":
        largest = b.call(aten.argmax.default, value, axis, True)
        zeros = b.call(aten.zeros_like.default, value)
        return b.call(aten.scatter.value, zeros, axis, largest, 1.0)
    target: Any = aten.softmax.int if op == "Softmax" else aten.log_softmax.int
    return b.call(target, value, axis)
