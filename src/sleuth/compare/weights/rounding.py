"""How far apart two arrays may be and still hold the same numbers: by the narrower of the formats they went through."""

from __future__ import annotations

import numpy as np

from sleuth.compare.values import Array

# Half a unit in the last place, relative to the largest number, and a little more.
_FLOAT32, _FLOAT16, _BFLOAT16 = 1e-6, 2.0**-11 * 1.01, 2.0**-8 * 1.01
# Most arrays are float32, which shows within a few numbers.
_FEW = 64


def rounding(one: Array, other: Array) -> float:
    """Relative to the largest number. The numbers tell the format, not the type: a file may keep float16 as float32."""
    return max(_format(one), _format(other))


def _format(array: Array) -> float:
    """The coarsest that keeps all its numbers. What is constant, as ones and zeros before training, tells nothing."""
    flat = array.ravel()
    if array.dtype.kind == "c" or not flat.size or flat.min() == flat.max():
        return _FLOAT32
    for keeps, rounded in ((_keeps_bfloat16, _BFLOAT16), (_keeps_float16, _FLOAT16)):
        if keeps(flat[:_FEW]) and keeps(flat):
            return rounded
    return _FLOAT32


def _keeps_bfloat16(flat: Array) -> bool:
    narrow = flat.astype(np.float32)
    return bool(np.array_equal(narrow, flat) and not np.any(narrow.view(np.uint32) & 0xFFFF))


def _keeps_float16(flat: Array) -> bool:
    with np.errstate(over="ignore"):
        return bool(np.array_equal(flat.astype(np.float16), flat))
