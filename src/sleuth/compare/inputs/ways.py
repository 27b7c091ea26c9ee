"""The ways to fill an input with numbers: at random, and at the edges of what it may hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from sleuth.compare.inputs.limits import Limit
from sleuth.compare.inputs.sample import Sample
from sleuth.compare.values import Array, Batch, is_real

Generator = np.random.Generator
Way = Callable[[Generator, Array, Limit | None], Array]


def of_values(names: Sequence[str], base: Batch, limits: Mapping[str, Limit], seed: int) -> Iterator[Sample]:
    """All that can be made without changing a shape; the random one first."""
    floats = any(is_real(array) for array in base)
    ids = any(limits[name].kind == "ids" for name in names if name in limits)
    ways = [*_ALWAYS, *(_OF_FLOATS if floats else ()), *(_OF_IDS if ids else ())]
    for place, (label, way) in enumerate(ways):
        yield Sample(label, _filled(way, names, base, limits, np.random.default_rng([seed, place])), seed)


def drawn(names: Sequence[str], base: Batch, limits: Mapping[str, Limit], seed: int) -> Batch:
    """At random, in these shapes."""
    return _filled(_random, names, base, limits, np.random.default_rng([seed, 0]))


def _filled(way: Way, names: Sequence[str], base: Batch, limits: Mapping[str, Limit], random: Generator) -> Batch:
    return tuple(
        np.ascontiguousarray(way(random, array, limits.get(name)).astype(array.dtype))
        for name, array in zip(names, base, strict=True)
    )


def _random(random: Generator, array: Array, limit: Limit | None) -> Array:
    if is_real(array):
        return random.standard_normal(array.shape)
    return _whole(random, array, limit)


def _whole(random: Generator, array: Array, limit: Limit | None) -> Array:
    """Ids anywhere in the table; masks with padding at the end of every second row; other numbers as they were."""
    if limit is None or not array.size:
        return array
    if limit.kind == "mask":
        return _padded(random, array)
    if limit.kind in ("ids", "bytes"):
        return random.integers(int(limit.least), int(limit.most) + 1, array.shape)
    return array


def _padded(random: Generator, array: Array) -> Array:
    """Whichever of 0 and 1 stands for a word, the other one at the end of every second row."""
    mask = np.array(array)
    if mask.ndim == 2 and mask.shape[1] > 1 and (mask.all() or not mask.any()):
        padding = not mask.flat[0]
        for row in mask[1::2]:
            row[random.integers(1, len(row)) :] = padding
    return mask


def _filled_with(number: float, of_ids: Callable[[Limit], float] | None = None) -> Way:
    """All floats this number; ids drawn, or all the one that `of_ids` picks."""

    def way(random: Generator, array: Array, limit: Limit | None) -> Array:
        if is_real(array):
            return np.full(array.shape, number)
        if of_ids is not None and limit is not None and limit.kind == "ids":
            return np.full(array.shape, of_ids(limit))
        return array if limit is not None and limit.kind == "mask" else _whole(random, array, limit)

    return way


def _only_ids(of_ids: Callable[[Limit], float]) -> Way:
    def way(random: Generator, array: Array, limit: Limit | None) -> Array:
        if limit is not None and limit.kind == "ids":
            return np.full(array.shape, of_ids(limit))
        return random.standard_normal(array.shape) if is_real(array) else array

    return way


def _scaled(factor: float) -> Way:
    def way(random: Generator, array: Array, limit: Limit | None) -> Array:
        numbers = _random(random, array, limit)
        return numbers * factor if is_real(array) else numbers

    return way


def _between_0_and_1(random: Generator, array: Array, limit: Limit | None) -> Array:
    return random.random(array.shape) if is_real(array) else _whole(random, array, limit)


def _of_many_sizes(random: Generator, array: Array, limit: Limit | None) -> Array:
    """Both signs, from a thousandth to ten."""
    if not is_real(array):
        return _whole(random, array, limit)
    return np.where(random.random(array.shape) < 0.5, -1, 1) * 10 ** random.uniform(-3, 1, array.shape)


def _denormal(random: Generator, array: Array, limit: Limit | None) -> Array:
    """The first row whole, and every third number of the others, too small for a normal float32.

    Not all rows: where nothing is left but such numbers, a runtime that takes them for 0 differs in all of nothing."""
    if not is_real(array):
        return _whole(random, array, limit)
    numbers = random.standard_normal(array.shape)
    small = random.random(array.shape) < 1 / 3
    if array.ndim > 1 and len(array) > 1:
        small[0] = True
    return np.where(small, numbers * 1e-40, numbers)


_ALWAYS: tuple[tuple[str, Way], ...] = (("random", _random),)
_OF_FLOATS = (
    ("between 0 and 1", _between_0_and_1),
    ("zeros", _filled_with(0.0)),
    ("constant", _filled_with(1.0)),
    ("large", _scaled(100.0)),
    ("tiny", _scaled(1e-4)),
    ("denormal", _denormal),
    ("mixed signs and sizes", _of_many_sizes),
)
_OF_IDS = (
    ("padding only", _only_ids(lambda limit: limit.least)),
    ("last id only", _only_ids(lambda limit: limit.most)),
)
