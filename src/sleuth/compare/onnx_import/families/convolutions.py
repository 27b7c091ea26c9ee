"""Convolutions; padding that is not the same on both sides becomes an operation of its own."""

from __future__ import annotations

import math

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.shapes import padded
from sleuth.compare.onnx_import.operations import Step, operation

_FORWARD = {1: aten.conv1d.default, 2: aten.conv2d.default, 3: aten.conv3d.default}
_TRANSPOSED = {1: aten.conv_transpose1d.default, 2: aten.conv_transpose2d.input, 3: aten.conv_transpose3d.input}


def paddings(
    s: Step, sizes: tuple[int, ...], kernel: list[int], strides: list[int], dilations: list[int]
) -> list[tuple[int, int]]:
    """Before and after, for each spatial axis."""
    auto = s.get("auto_pad", "NOTSET")
    if auto == "VALID":
        return [(0, 0)] * len(kernel)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        found = []
        for size, extent, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
            total = max((math.ceil(size / stride) - 1) * stride + (extent - 1) * dilation + 1 - size, 0)
            less, more = total // 2, total - total // 2
            found.append((less, more) if auto == "SAME_UPPER" else (more, less))
        return found
    pads = s.get("pads") or [0] * 2 * len(kernel)
    return list(zip(pads[: len(kernel)], pads[len(kernel) :], strict=True))


@operation("Conv")
def _conv(b: Builder, s: Step) -> Traced:
    value, weight = s.inputs[0], s.inputs[1]
    count = value.rank - 2
    if count not in _FORWARD:
        raise s.refuse(f"over {count} dimensions")
    strides, dilations = s.get("strides") or [1] * count, s.get("dilations") or [1] * count
    pads = paddings(s, value.shape[2:], list(weight.shape[2:]), strides, dilations)
    if any(before != after for before, after in pads):
        value = padded(b, value, [(0, 0), (0, 0), *pads])
        pads = [(0, 0)] * count
    return b.call(
        _FORWARD[count],
        value,
        weight,
        s.input(2),
        list(strides),
        [before for before, _ in pads],
        list(dilations),
        s.get("group", 1),
    )


@operation("ConvTranspose")
def _conv_transpose(b: Builder, s: Step) -> Traced:
    value, weight = s.inputs[0], s.inputs[1]
    count = value.rank - 2
    if count not in _TRANSPOSED:
        raise s.refuse(f"over {count} dimensions")
    strides, dilations = list(s.get("strides") or [1] * count), list(s.get("dilations") or [1] * count)
    more = list(s.get("output_padding") or [0] * count)
    full = [
        (size - 1) * stride + (extent - 1) * dilation + 1
        for size, stride, extent, dilation in zip(value.shape[2:], strides, weight.shape[2:], dilations, strict=True)
    ]
    pads = _transposed_pads(s, full, value.shape[2:], strides, more)
    if all(before == after for before, after in pads) and not any(before < 0 for before, _ in pads):
        padding = [before for before, _ in pads]
        return b.call(
            _TRANSPOSED[count], value, weight, s.input(2), strides, padding, more, s.get("group", 1), dilations
        )
    none = [0] * count
    whole = b.call(_TRANSPOSED[count], value, weight, s.input(2), strides, none, more, s.get("group", 1), dilations)
    return padded(b, whole, [(0, 0), (0, 0), *[(-before, -after) for before, after in pads]])


def _transposed_pads(
    s: Step, full: list[int], sizes: tuple[int, ...], strides: list[int], more: list[int]
) -> list[tuple[int, int]]:
    auto = s.get("auto_pad", "NOTSET")
    wanted = s.get("output_shape")
    if wanted is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    if wanted is None:
        return paddings(s, sizes, full, strides, strides) if auto == "NOTSET" else [(0, 0)] * len(full)
    found = []
    for size, extra, goal in zip(full, more, wanted[-len(full) :], strict=True):
        total = size + extra - goal
        half = total // 2
        found.append((half, total - half) if auto == "SAME_UPPER" else (total - half, half))
    return found


@operation("ConvInteger")
def _conv_integer(b: Builder, s: Step) -> Traced:
    value, weight = (centred(b, s.inputs[place], s.input(place + 2), 1 - place) for place in range(2))
    s.inputs = [value, weight]
    return b.call(aten.to.dtype, _conv(b, s), torch.int32)


@operation("MatMulInteger")
def _matmul_integer(b: Builder, s: Step) -> Traced:
    left, right = s.inputs[0], s.inputs[1]
    left = centred(b, left, s.input(2), max(left.rank - 2, 0) if s.has(2) and s.input(2).rank == 1 else 0)
    right = centred(b, right, s.input(3), max(right.rank - 1, 0))
    return b.call(aten.to.dtype, b.call(aten.matmul.default, left, right), torch.int32)


def centred(b: Builder, value: Traced, zero: Traced | None, axis: int) -> Traced:
    """Whole numbers less their zero point, as floating-point ones, which hold them exactly."""
    wide = b.call(aten.to.dtype, value, b.real)
    if zero is None:
        return wide
    zero = b.call(aten.to.dtype, zero, b.real)
    if zero.rank == 1 and zero.shape[0] > 1:
        shape = [1] * value.rank
        shape[axis] = zero.shape[0]
        zero = b.call(aten.view.default, zero, shape)
    return b.call(aten.sub.Tensor, wide, zero)


@operation("Col2Im")
def _col2im(b: Builder, s: Step) -> Traced:
    image, block = s.ints(1), s.ints(2)
    if len(image) != 2:
        raise s.refuse(f"over {len(image)} dimensions")
    pads = s.get("pads") or [0, 0, 0, 0]
    if pads[:2] != pads[2:]:
        raise s.refuse("with uneven padding")
    strides, dilations = s.get("strides") or [1, 1], s.get("dilations") or [1, 1]
    return b.call(aten.col2im.default, s.inputs[0], image, block, list(dilations), list(pads[:2]), list(strides))
