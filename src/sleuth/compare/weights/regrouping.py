"""What was flattened in another order: the columns of a dense layer behind a flatten, heads that are interleaved.

Such an axis, read as two or three axes that are put into another order, gives the other one. Means along the other
axes tell which, so that the array itself is moved about only once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sleuth.compare.values import Array
from sleuth.compare.weights.changes import Change

_LONGEST = 1 << 17
_ORDERS = ((1, 0, 2), (0, 2, 1), (2, 1, 0))


def regroupings(ours: Array, wanted: Array, apart: float) -> Iterator[Change]:
    """Those of one axis of a matrix or vector that make it the wanted one, or that one transposed."""
    if ours.ndim not in (1, 2) or wanted.ndim != ours.ndim:
        return
    for transposed in (False, True)[: ours.ndim]:
        theirs = wanted.T if transposed else wanted
        if theirs.shape != ours.shape:
            continue
        for axis in range(ours.ndim):
            for factors, order in _of_axis(ours, theirs, axis, apart):
                before, after = ours.shape[:axis], ours.shape[axis + 1 :]
                finer = (*before, *factors, *after)
                places = (*range(axis), *(axis + place for place in order), *range(axis + 3, len(finer)))
                yield Change(axes=(1, 0) if transposed else (), regrouped=(finer, places))


def _of_axis(ours: Array, theirs: Array, axis: int, apart: float) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    length = ours.shape[axis]
    if not 4 <= length <= _LONGEST:
        return
    others = tuple(one for one in range(ours.ndim) if one != axis)
    mine, wanted = ours.mean(others), theirs.mean(others)
    if np.abs(np.sort(mine) - np.sort(wanted)).max() > apart:
        return
    for factors in _factors(length):
        for order in _ORDERS:
            if np.abs(mine.reshape(factors).transpose(order).ravel() - wanted).max() <= apart:
                yield factors, order


def _factors(length: int) -> Iterator[tuple[int, int, int]]:
    divisors = [one for one in range(1, length + 1) if length % one == 0]
    for first in divisors:
        for second in divisors:
            if second > 1 and length // first % second == 0:
                yield first, second, length // first // second
