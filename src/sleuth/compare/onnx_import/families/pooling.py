"""Pooling; what PyTorch's own cannot do (uneven padding, dilated means) is a convolution with ones."""

from __future__ import annotations

import math
from typing import Any

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.convolutions import paddings
from sleuth.compare.onnx_import.families.shapes import padded
from sleuth.compare.onnx_import.operations import Step, operation

_MAX = {1: aten.max_pool1d.default, 2: aten.max_pool2d.default, 3: aten.max_pool3d.default}
_MAX_WITH_PLACES = {2: aten.max_pool2d_with_indices.default, 3: aten.max_pool3d_with_indices.default}
_MEAN = {1: aten.avg_pool1d.default, 2: aten.avg_pool2d.default, 3: aten.avg_pool3d.default}
_CONV = {1: aten.conv1d.default, 2: aten.conv2d.default, 3: aten.conv3d.default}
_GLOBAL = {
    1: aten.adaptive_avg_pool1d.default,
    2: aten.adaptive_avg_pool2d.default,
    3: aten.adaptive_avg_pool3d.default,
}


class _Window:
    """The sizes of a pooling window, and how far it reaches over the edges."""

    def __init__(self, s: Step, value: Traced) -> None:
        self.kernel = list(s.get("kernel_shape"))
        count = len(self.kernel)
        if count not in _MAX:
            raise s.refuse(f"over {count} dimensions")
        self.strides = list(s.get("strides") or [1] * count)
        self.dilations = list(s.get("dilations") or [1] * count)
        self.pads = paddings(s, value.shape[2:], self.kernel, self.strides, self.dilations)
        self.ceil = bool(s.get("ceil_mode", 0)) and s.get("auto_pad", "NOTSET") == "NOTSET"

    @property
    def even(self) -> bool:
        sides = zip(self.pads, self.kernel, strict=True)
        return all(before == after and before <= extent // 2 for (before, after), extent in sides)

    @property
    def before(self) -> list[int]:
        return [before for before, _ in self.pads]

    def beyond(self, sizes: tuple[int, ...]) -> list[int]:
        """How much further than its padding the last window reaches, where a part of it is enough."""
        found = []
        for size, extent, stride, dilation, (before, after) in zip(
            sizes, self.kernel, self.strides, self.dilations, self.pads, strict=True
        ):
            reach = dilation * (extent - 1) + 1
            room = size + before + after - reach
            steps = math.ceil(room / stride) if self.ceil else room // stride
            if steps * stride >= size + before:  # a window that begins in the padding behind the end is left out
                steps -= 1
            found.append(max(0, steps * stride - room))
        return found


@operation("MaxPool")
def _max_pool(b: Builder, s: Step) -> list[Traced]:
    value = s.inputs[0]
    window = _Window(s, value)
    whole = value
    if not value.floating:
        value = b.call(aten.to.dtype, value, b.real)
    if s.wants(1):
        return _with_places(b, s, value, window)
    if window.even:
        pads, ceil = window.before, window.ceil
    else:
        beyond = window.beyond(value.shape[2:])
        sides = [(before, after + more) for (before, after), more in zip(window.pads, beyond, strict=True)]
        value = padded(b, value, [(0, 0), (0, 0), *sides], float("-inf"))
        pads, ceil = [0] * len(window.kernel), False
    result = b.call(_MAX[len(window.kernel)], value, window.kernel, window.strides, pads, window.dilations, ceil)
    return [result if whole.floating else b.call(aten.to.dtype, result, whole.dtype)]


def _with_places(b: Builder, s: Step, value: Traced, window: _Window) -> list[Traced]:
    """ONNX counts the places through the whole tensor, PyTorch through each channel."""
    count = len(window.kernel)
    if count not in _MAX_WITH_PLACES or not window.even:
        raise s.refuse("with indices, in one dimension or with uneven padding")
    both = b.call(
        _MAX_WITH_PLACES[count], value, window.kernel, window.strides, window.before, window.dilations, window.ceil
    )
    places = b.item(both, 1)
    plane = math.prod(value.shape[2:])
    if s.get("storage_order", 0):
        rows, columns = value.shape[-2:]
        row = b.call(aten.div.Tensor_mode, places, columns, rounding_mode="floor")
        column = b.call(aten.remainder.Scalar, places, columns)
        places = b.call(aten.add.Tensor, b.call(aten.mul.Tensor, column, rows), row)
    starts = torch.arange(value.shape[0] * value.shape[1]).reshape(*value.shape[:2], *[1] * count) * plane
    return [b.item(both, 0), b.call(aten.add.Tensor, places, b.constant(starts))]


@operation("MaxUnpool")
def _max_unpool(b: Builder, s: Step) -> Traced:
    value, places = s.inputs[0], s.inputs[1]
    count = value.rank - 2
    kernel, pads = s.get("kernel_shape"), s.get("pads") or [0] * 2 * count
    strides = s.get("strides") or [1] * count
    sizes = [
        (size - 1) * stride + extent - pads[axis] - pads[axis + count]
        for axis, (size, stride, extent) in enumerate(zip(value.shape[2:], strides, kernel, strict=True))
    ]
    inside = math.prod(sizes)
    shape = s.ints(2)[2:] if s.has(2) else sizes
    starts = torch.arange(value.shape[0] * value.shape[1]).reshape(*value.shape[:2], *[1] * count) * inside
    flat = [
        b.call(aten.view.default, one, [*value.shape[:2], -1])
        for one in (value, b.call(aten.sub.Tensor, places, b.constant(starts)))
    ]
    empty = b.constant(torch.zeros(*value.shape[:2], inside))
    filled = b.call(aten.scatter.src, empty, 2, flat[1], flat[0])
    whole = b.call(aten.view.default, filled, [*value.shape[:2], *sizes])
    return padded(b, whole, [(0, 0), (0, 0), *[(0, goal - size) for goal, size in zip(shape, sizes, strict=True)]])


@operation("AveragePool")
def _average_pool(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    window = _Window(s, value)
    counted = bool(s.get("count_include_pad", 0))
    if window.even and all(dilation == 1 for dilation in window.dilations):
        target: Any = _MEAN[len(window.kernel)]
        return b.call(target, value, window.kernel, window.strides, window.before, window.ceil, counted)
    ones = b.constant(torch.ones(1, 1, *value.shape[2:]))
    if counted:
        ones = b.constant(
            torch.ones(1, 1, *[size + sum(pads) for size, pads in zip(value.shape[2:], window.pads, strict=True)])
        )
    total = _summed(b, value, window)
    number = _summed(b, ones, window, padded_already=counted)
    return b.call(aten.div.Tensor, total, number)


def _summed(b: Builder, value: Traced, window: _Window, padded_already: bool = False) -> Traced:
    """The sum in each window."""
    count = len(window.kernel)
    sizes = value.shape[2:]
    if padded_already:
        sizes = tuple(size - sum(pads) for size, pads in zip(sizes, window.pads, strict=True))
    beyond = window.beyond(sizes)
    sides = [
        (0 if padded_already else before, more + (0 if padded_already else after))
        for (before, after), more in zip(window.pads, beyond, strict=True)
    ]
    wide = padded(b, value, [(0, 0), (0, 0), *sides])
    lone = b.call(aten.reshape.default, wide, [-1, 1, *wide.shape[2:]])
    ones = b.constant(torch.ones(1, 1, *window.kernel))
    total = b.call(_CONV[count], lone, ones, None, window.strides, [0] * count, window.dilations, 1)
    return b.call(aten.reshape.default, total, [*value.shape[:2], *total.shape[2:]])


@operation("LpPool")
def _lp_pool(b: Builder, s: Step) -> Traced:
    value, power = s.inputs[0], s.get("p", 2)
    raised = b.call(aten.pow.Tensor_Scalar, b.call(aten.abs.default, value), power)
    return b.call(aten.pow.Tensor_Scalar, _summed(b, raised, _Window(s, value)), 1 / power)


@operation("GlobalAveragePool")
def _global_average_pool(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    count = value.rank - 2
    if count in _GLOBAL:
        return b.call(_GLOBAL[count], value, [1] * count)
    return b.call(aten.mean.dim, value, list(range(2, value.rank)), True)


@operation("GlobalMaxPool")
def _global_max_pool(b: Builder, s: Step) -> Traced:
    return b.call(aten.amax.default, s.inputs[0], list(range(2, s.inputs[0].rank)), True)


@operation("GlobalLpPool")
def _global_lp_pool(b: Builder, s: Step) -> Traced:
    return b.call(aten.linalg_vector_norm.default, s.inputs[0], s.get("p", 2), list(range(2, s.inputs[0].rank)), True)
