"""Operations that move numbers about without changing them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation


@operation("Reshape")
def _reshape(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    wanted = s.ints(1) if s.has(1) else list(s.get("shape"))
    if not s.get("allowzero", 0):
        wanted = [value.shape[place] if size == 0 else size for place, size in enumerate(wanted)]
    if -1 in wanted and 0 in value.shape:
        wanted[wanted.index(-1)] = 0
    return b.call(aten.reshape.default, value, wanted)


@operation("Flatten")
def _flatten(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    axis = s.get("axis", 1)
    axis = axis + value.rank if axis < 0 else axis
    if axis == 1 and value.rank > 1:
        return b.call(aten.flatten.using_ints, value, 1)
    return b.call(aten.reshape.default, value, [math.prod(value.shape[:axis]), math.prod(value.shape[axis:])])


@operation("Squeeze")
def _squeeze(b: Builder, s: Step) -> Traced:
    axes = s.axes(1)
    value = s.inputs[0]
    axes = [axis for axis, size in enumerate(value.shape) if size == 1] if axes is None else axes
    return b.call(aten.squeeze.dim, value, axes[0]) if len(axes) == 1 else b.call(aten.squeeze.dims, value, axes)


@operation("Unsqueeze")
def _unsqueeze(b: Builder, s: Step) -> Traced:
    value: Traced = s.inputs[0]
    axes = s.axes(1) or []
    rank = value.rank + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        value = b.call(aten.unsqueeze.default, value, axis)
    return value


@operation("Transpose")
def _transpose(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    order = s.get("perm") or list(reversed(range(value.rank)))
    if value.constant and value.rank == 2 and list(order) == [1, 0]:
        return b.keep_name(b.call(aten.t.default, value), value)
    return b.call(aten.permute.default, value, list(order))


@operation("Concat")
def _concat(b: Builder, s: Step) -> Traced:
    return b.call(aten.cat.default, list(s.inputs), s.get("axis", 1))


@operation("Split")
def _split(b: Builder, s: Step) -> list[Traced]:
    value, axis = s.inputs[0], s.get("axis", 0)
    size = value.shape[axis]
    parts = len(s.outputs)
    sizes = s.ints(1) if s.has(1) else s.get("split")
    if sizes is None:
        each = math.ceil(size / parts)
        sizes = [max(0, min(each, size - each * place)) for place in range(parts)]
    several = b.call(aten.split_with_sizes.default, value, list(sizes), axis)
    return [b.item(several, place) for place in range(len(sizes))]


@operation("Slice")
def _slice(b: Builder, s: Step) -> Traced:
    value: Traced = s.inputs[0]
    if s.has(1):
        starts, ends = s.ints(1), s.ints(2)
        axes = s.ints(3) if s.has(3) else list(range(len(starts)))
        steps = s.ints(4) if s.has(4) else [1] * len(starts)
    else:
        starts, ends = list(s.get("starts")), list(s.get("ends"))
        axes, steps = list(s.get("axes") or range(len(starts))), [1] * len(starts)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        value = _sliced(b, value, axis % value.rank, slice(start, end, step))
    return value


def _sliced(b: Builder, value: Traced, axis: int, part: slice) -> Traced:
    size = value.shape[axis]
    if part.step > 0:
        start, end, step = part.indices(size)
        if (start, end, step) == (0, size, 1):
            return value
        return b.call(aten.slice.Tensor, value, axis, start, max(start, end), step)
    return b.call(aten.index_select.default, value, axis, b.ints(range(*part.indices(size))))


@operation("Expand")
def _expand(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    shape = [int(size) for size in np.broadcast_shapes(value.shape, tuple(s.ints(1)))]
    return value if tuple(shape) == value.shape else b.call(aten.expand.default, value, shape)


@operation("Tile")
def _tile(b: Builder, s: Step) -> Traced:
    return b.call(aten.repeat.default, s.inputs[0], s.ints(1))


_MODES = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@operation("Pad")
def _pad(b: Builder, s: Step) -> Traced:
    value: Traced = s.inputs[0]
    mode = s.get("mode", "constant")
    pads = s.ints(1) if s.has(1) else list(s.get("pads") or s.get("paddings"))
    axes = [axis % value.rank for axis in s.ints(3)] if s.has(3) else list(range(value.rank))
    amounts = [(0, 0)] * value.rank
    for place, axis in enumerate(axes):
        amounts[axis] = (pads[place], pads[place + len(axes)])
    if mode == "constant":
        filler = s.known(2).item() if s.has(2) else s.get("value", 0)
        return padded(b, value, amounts, filler)
    for axis, (before, after) in enumerate(amounts):
        if before or after:
            value = b.call(
                aten.index_select.default, value, axis, b.ints(_reached(value.shape[axis], before, after, mode))
            )
    return value


def padded(b: Builder, value: Traced, amounts: list[tuple[int, int]], filler: Any = 0) -> Traced:
    """Constant padding of each axis; a negative amount crops."""
    flat = [amount for both in reversed(amounts) for amount in both]
    while len(flat) > 2 and flat[-1] == flat[-2] == 0:
        flat = flat[:-2]
    if not any(flat):
        return value
    if not value.floating and isinstance(filler, float):
        filler = int(filler)
    return b.call(aten.pad.default, value, flat, "constant", filler)


def _reached(size: int, before: int, after: int, mode: str) -> list[int]:
    """Which place of the axis each place of the padded axis shows."""
    places = range(-before, size + after)
    if mode == "edge":
        return [min(max(place, 0), size - 1) for place in places]
    if mode == "wrap":
        return [place % size for place in places]
    round_trip = max(2 * (size - 1), 1)
    return [min(place % round_trip, round_trip - place % round_trip) if size > 1 else 0 for place in places]


@operation("DepthToSpace")
def _depth_to_space(b: Builder, s: Step) -> Traced:
    value, block = s.inputs[0], s.get("blocksize")
    if s.get("mode", "DCR") == "CRD":
        return b.call(aten.pixel_shuffle.default, value, block)
    n, c, h, w = value.shape
    apart = b.call(aten.view.default, value, [n, block, block, c // block**2, h, w])
    turned = b.call(aten.permute.default, apart, [0, 3, 4, 1, 5, 2])
    return b.call(aten.reshape.default, turned, [n, c // block**2, h * block, w * block])


@operation("SpaceToDepth")
def _space_to_depth(b: Builder, s: Step) -> Traced:
    value, block = s.inputs[0], s.get("blocksize")
    n, c, h, w = value.shape
    apart = b.call(aten.view.default, value, [n, c, h // block, block, w // block, block])
    order = [0, 1, 3, 5, 2, 4] if s.get("mode", "DCR") == "CRD" else [0, 3, 5, 1, 2, 4]
    turned = b.call(aten.permute.default, apart, order)
    return b.call(aten.reshape.default, turned, [n, c * block**2, h // block, w // block])


@operation("Trilu")
def _trilu(b: Builder, s: Step) -> Traced:
    return b.call(aten.triu.default if s.get("upper", 1) else aten.tril.default, s.inputs[0], s.int_or(1, 0))


@operation("CenterCropPad")
def _center_crop_pad(b: Builder, s: Step) -> Traced:
    value, wanted = s.inputs[0], s.ints(1)
    axes = s.get("axes") or list(range(value.rank))
    amounts = [(0, 0)] * value.rank
    for axis, size in zip(axes, wanted, strict=True):
        more = size - value.shape[axis]
        half = more // 2 if more >= 0 else -((-more) // 2)
        amounts[axis % value.rank] = (half, more - half)
    return padded(b, value, amounts)


@operation("ReverseSequence")
def _reverse_sequence(b: Builder, s: Step) -> Traced:
    value, lengths = s.inputs[0], s.ints(1)
    batch, time = s.get("batch_axis", 1), s.get("time_axis", 0)
    size = value.shape[time]
    order = torch.tensor([[*reversed(range(length)), *range(length, size)] for length in lengths])
    shape = [1] * value.rank
    shape[batch], shape[time] = len(lengths), size
    places = (order if batch < time else order.t()).reshape(shape).expand(value.shape)
    return b.call(aten.gather.default, value, time, b.constant(places.contiguous()))
