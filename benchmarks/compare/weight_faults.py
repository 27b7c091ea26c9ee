"""What may have happened to the numbers of one weight, in either port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compare.fault import Unfit, amount, pick

Array = NDArray[Any]
# The changed numbers, how much, and the plain word for it.
Changed = tuple[Array, float | None, str]
Change = Callable[[Array, np.random.Generator, Sequence[Array]], Changed]
OTHER = "weights differ"


def _element(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    size, changed = amount(rng), w.copy()
    changed.flat[int(rng.integers(w.size))] += size * _rms(w)
    return changed, size, OTHER


def _row(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    if w.ndim < 2:
        raise Unfit
    size, changed = amount(rng), w.copy()
    changed[int(rng.integers(len(w)))] *= 1 + size
    return changed, size, OTHER


def _scale(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    size = amount(rng)
    return w * (1 + size), size, OTHER


def _noise(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    size = amount(rng)
    return w + size * _rms(w) * rng.standard_normal(w.shape), size, OTHER


def _roll(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    return np.roll(w, 1, int(rng.integers(w.ndim)) if w.ndim else 0), None, OTHER


def _transposed(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    if w.ndim != 2 or w.shape[0] != w.shape[1]:
        raise Unfit
    return w.T, None, "weights transposed"


def _zeros(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    return np.zeros_like(w), None, "weights lost"


def _another(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    other = pick(rng, same)
    return other, None, OTHER if other.any() else "weights lost"


def _half(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    return w.astype(np.float16), None, "precision of weights"


def _int8(w: Array, rng: np.random.Generator, same: Sequence[Array]) -> Changed:
    step = float(np.abs(w).max()) / 127 or 1.0
    return np.round(w / step) * step, None, "weights in int8"


CHANGES: dict[str, Change] = {
    "one element": _element,
    "one row": _row,
    "scaled": _scale,
    "noise": _noise,
    "rolled": _roll,
    "transposed": _transposed,
    "zeros": _zeros,
    "another's of the same shape": _another,
    "rounded to float16": _half,
}
INT8: Change = _int8


def flipped(w: Array, height: int, width: int) -> Array:
    return np.flip(w, (height, width))


def _rms(w: Array) -> float:
    return float(np.sqrt(np.mean(np.square(w.astype(np.float64))))) or 1.0
