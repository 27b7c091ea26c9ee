"""Normalisations, each as the one operation that PyTorch has for it."""

from __future__ import annotations

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.shapes import padded
from sleuth.compare.onnx_import.operations import Step, operation


@operation("BatchNormalization")
def _batch_norm(b: Builder, s: Step) -> list[Traced]:
    value, weight, bias, mean, variance = s.inputs
    eps, momentum = s.get("epsilon", 1e-5), s.get("momentum", 0.9)
    if not s.get("training_mode", 0):
        return [b.call(aten.batch_norm.default, value, weight, bias, mean, variance, False, 1 - momentum, eps, False)]
    result = b.call(aten.batch_norm.default, value, weight, bias, None, None, True, 1 - momentum, eps, False)
    axes = [axis for axis in range(value.rank) if axis != 1]
    now = b.call(aten.mean.dim, value, axes), b.call(aten.var.correction, value, axes, correction=0)
    return [result, *[_blended(b, old, new, momentum) for old, new in zip((mean, variance), now, strict=True)]]


def _blended(b: Builder, old: Traced, new: Traced, momentum: float) -> Traced:
    return b.call(aten.add.Tensor, b.call(aten.mul.Tensor, old, momentum), b.call(aten.mul.Tensor, new, 1 - momentum))


@operation("InstanceNormalization")
def _instance_norm(b: Builder, s: Step) -> Traced:
    value, weight, bias = s.inputs
    return b.call(aten.instance_norm.default, value, weight, bias, None, None, True, 0.1, s.get("epsilon", 1e-5), False)


@operation("LayerNormalization")
def _layer_norm(b: Builder, s: Step) -> list[Traced]:
    value, weight, bias = s.inputs[0], s.inputs[1], s.input(2)
    axis, eps = s.get("axis", -1) % value.rank, s.get("epsilon", 1e-5)
    shape = list(value.shape[axis:])
    fits = list(weight.shape) == shape and (bias is None or list(bias.shape) == shape)
    if fits:
        result = b.call(aten.layer_norm.default, value, shape, weight, bias, eps, False)
    else:
        result = b.call(aten.mul.Tensor, b.call(aten.layer_norm.default, value, shape, None, None, eps, False), weight)
        result = result if bias is None else b.call(aten.add.Tensor, result, bias)
    results = [result]
    axes = list(range(axis, value.rank))
    if s.wants(1) or s.wants(2):
        results.append(b.call(aten.mean.dim, value, axes, True))
    if s.wants(2):
        variance = b.call(aten.var.correction, value, axes, correction=0, keepdim=True)
        results.append(b.call(aten.rsqrt.default, b.call(aten.add.Tensor, variance, eps)))
    return results


@operation("RMSNormalization", "SimplifiedLayerNormalization")
def _rms_norm(b: Builder, s: Step) -> Traced:
    value, weight = s.inputs[0], s.inputs[1]
    shape = list(value.shape[s.get("axis", -1) % value.rank :])
    eps = s.get("epsilon", 1e-5)
    if list(weight.shape) == shape:
        return b.call(aten.rms_norm.default, value, shape, weight, eps)
    return b.call(aten.mul.Tensor, b.call(aten.rms_norm.default, value, shape, None, eps), weight)


@operation("GroupNormalization")
def _group_norm(b: Builder, s: Step) -> Traced:
    value, weight, bias = s.inputs
    groups, eps = s.get("num_groups"), s.get("epsilon", 1e-5)
    channels = value.shape[1]
    if weight.shape[0] != channels:  # before version 21 there was one weight a group
        weight, bias = (_for_each_channel(b, one, channels) for one in (weight, bias))
    return b.call(aten.group_norm.default, value, groups, weight, bias, eps, False)


def _for_each_channel(b: Builder, weight: Traced, channels: int) -> Traced:
    each = channels // weight.shape[0]
    wide = b.call(aten.expand.default, b.call(aten.unsqueeze.default, weight, 1), [-1, each])
    return b.call(aten.reshape.default, wide, [channels])


@operation("LpNormalization")
def _lp_normalisation(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    length = b.call(aten.linalg_vector_norm.default, value, s.get("p", 2), [s.get("axis", -1)], True)
    one = b.call(aten.ones_like.default, length)
    length = b.call(aten.where.self, b.call(aten.eq.Scalar, length, 0), one, length)
    return b.call(aten.div.Tensor, value, length)


@operation("MeanVarianceNormalization")
def _mean_variance(b: Builder, s: Step) -> Traced:
    value, axes = s.inputs[0], list(s.get("axes") or [0, 2, 3])
    centred = b.call(aten.sub.Tensor, value, b.call(aten.mean.dim, value, axes, True))
    variance = b.call(aten.mean.dim, b.call(aten.mul.Tensor, centred, centred), axes, True)
    return b.call(aten.div.Tensor, centred, b.call(aten.add.Tensor, b.call(aten.sqrt.default, variance), 1e-9))


@operation("LRN")
def _local_response(b: Builder, s: Step) -> Traced:
    """Over a channel's neighbours; an even window has one more behind than before."""
    value, size = s.inputs[0], s.get("size")
    alpha, beta, bias = s.get("alpha", 1e-4), s.get("beta", 0.75), s.get("bias", 1.0)
    squares = b.call(aten.mul.Tensor, value, value)
    before = (size - 1) // 2
    rest = [(0, 0)] * (value.rank - 2)
    wide = padded(b, squares, [(0, 0), (before, size - 1 - before), *rest])
    channels = value.shape[1]
    total = b.call(aten.slice.Tensor, wide, 1, 0, channels)
    for step in range(1, size):
        total = b.call(aten.add.Tensor, total, b.call(aten.slice.Tensor, wide, 1, step, step + channels))
    scale = b.call(aten.add.Tensor, b.call(aten.mul.Tensor, total, alpha / size), bias)
    return b.call(aten.div.Tensor, value, b.call(aten.pow.Tensor_Scalar, scale, beta))
