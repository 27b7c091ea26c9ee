"""Which of the target's arrays are the reference's, in whatever order of their axes, and which are nobody's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch import Tensor

from sleuth.compare.align import arranged, arrangements
from sleuth.compare.causes import Target
from sleuth.compare.reference import as_array
from sleuth.compare.values import Array, in_float64, is_real

# A weight that was copied is copied bit by bit; this allows for one that went through another format.
_SAME = 1e-6
_SAME_IN_HALF_PRECISION = 1e-2


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
