"""Which of the target's arrays are the reference's, in whatever order of their axes, and which are nobody's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from torch import Tensor

from sleuth.compare.align import arranged, arrangements
from sleuth.compare.causes import Target
from sleuth.compare.reference import as_array
from sleuth.compare.values import Array, in_float64, is_real

# A weight that was copied is copied bit by bit; this allows for one that went through another format.
_SAME = 1e-6
_SAME_IN_HALF_PRECISION = 1e-2
# Where ONNX keeps PyTorch's gates: i, f, g, o of its i, o, f, c; r, z, n of its z, r, h.
_FROM_ONNX = {"lstm": [0, 2, 3, 1], "gru": [1, 0, 2]}


def is_weight(tensor: Tensor, target: Target) -> bool:
    """One of the reference's own, as it is or transposed."""
    array = as_array(tensor)
    return any(_equal(one, array, _SAME) for one in target.originals.values() if _size(one) == _size(array))


def held(tensor: Tensor, target: Target) -> bool:
    """The target has this very array."""
    array = as_array(tensor)
    return any(_equal(one, array, _near(target)) for one in target.weights.values() if _size(one) == _size(array))


def strangers(tensor: Tensor, target: Target) -> Iterator[tuple[str, Array]]:
    """The target's arrays of this size, with their names, that are none of the reference's."""
    wanted = _size(as_array(tensor))
    originals = [one for one in target.originals.values() if _size(one) == wanted]
    for name, array in target.weights.items():
        if _size(array) != wanted or not is_real(array):
            continue
        if not any(_equal(one, array, _near(target)) for one in originals):
            yield name, array


def as_pytorch_keeps_gates(target: Target, op: str, size: int) -> Target:
    """ONNX stacks the directions of a recurrent layer, has its gates in another order, and both biases in one array."""
    order = _FROM_ONNX.get(op, [0])
    rows = len(order) * size
    unpacked: dict[str, Array] = {}
    for name, array in target.weights.items():
        if array.ndim == 3 and array.shape[0] <= 2 and array.shape[1] == rows:
            unpacked.update({f"{name}[{way}]": _reordered(part, order) for way, part in enumerate(array)})
        elif array.ndim == 2 and array.shape[0] <= 2 and array.shape[1] == 2 * rows:
            for way, part in enumerate(array):
                unpacked[f"{name}[{way}, :{rows}]"] = _reordered(part[:rows], order)
                unpacked[f"{name}[{way}, {rows}:]"] = _reordered(part[rows:], order)
    return replace(target, weights={**target.weights, **unpacked})


def _reordered(array: Array, order: list[int]) -> Array:
    return np.asarray(array.reshape(len(order), -1, *array.shape[1:])[order].reshape(array.shape))


def _near(target: Target) -> float:
    return _SAME if target.precision in ("float32", "float64") else _SAME_IN_HALF_PRECISION


def _size(array: Array) -> tuple[int, ...]:
    return tuple(sorted(n for n in array.shape if n > 1))


def _equal(one: Array, other: Array, near: float) -> bool:
    """In any order of the axes; sums tell most of them apart at once."""
    a, b = in_float64(one), in_float64(other)
    scale = float(np.abs(b).max(initial=0.0))
    if abs(float(a.sum()) - float(b.sum())) > near * scale * a.size:
        return False
    for axes in arrangements(a.shape, b.shape):
        if np.abs(arranged(a, axes, b.shape) - b).max(initial=0.0) <= near * scale:
            return True
    return False
