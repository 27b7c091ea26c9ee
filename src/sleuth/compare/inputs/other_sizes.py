"""The same kind of input in other sizes: a batch of 1, the longest sequence, another image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sleuth.compare.inputs.limits import Limit
from sleuth.compare.inputs.sample import Sample
from sleuth.compare.inputs.trying import problem_with
from sleuth.compare.inputs.ways import drawn
from sleuth.compare.side import Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Array, Batch

# The longest sequence is looked for up to so many times the length at hand, and up to so many numbers.
_LONGEST = 16
_MOST_NUMBERS = 1 << 18
_MOST_TRIES = 12
_FEW_ROWS = 2
_FACTORS = ((1.5, 1.25), (1.5, 1.5), (2.0, 2.0))


def resized(batch: Batch, axis: int, size: int, wanted: int) -> Batch:
    """Every axis `axis` of this size becomes so long, by repeating or by leaving off."""
    return tuple(
        _stretched(array, axis, wanted) if array.ndim > axis and array.shape[axis] == size else array for array in batch
    )


def _stretched(array: Array, axis: int, wanted: int) -> Array:
    return np.ascontiguousarray(np.take(array, np.arange(wanted) % max(array.shape[axis], 1), axis))


def other_sizes(reference: Side, sample: Sample, names: Sequence[str], limits: Mapping[str, Limit]) -> Iterator[Sample]:
    """What may be tried; a size that the reference does not take is not offered."""
    batch = sample.batch
    if not batch or not batch[0].ndim:
        return
    rows = batch[0].shape[0]
    if rows > 1:
        yield replace(sample, label="batch of 1", batch=resized(batch, 0, rows, 1))
    few = resized(batch, 0, rows, min(rows, _FEW_ROWS))
    for label, shaped in _reshaped(reference, few, _main(batch, names, limits)):
        yield replace(sample, label=label, batch=drawn(names, shaped, limits, sample.seed or 0))


def _main(batch: Batch, names: Sequence[str], limits: Mapping[str, Limit]) -> int:
    """The input whose size counts: the first of ids, or else the first."""
    ids = [place for place, name in enumerate(names) if name in limits and limits[name].kind == "ids"]
    return ids[0] if ids else 0


def _reshaped(reference: Side, few: Batch, main: int) -> Iterator[tuple[str, Batch]]:
    first = few[main]
    if first.ndim >= 4:
        other = _other_image(reference, few, main)
        if other is not None:
            yield f"images of {' x '.join(map(str, other[main].shape[1:]))}", other
        return
    for axis in range(1, first.ndim):
        length = first.shape[axis]
        longest = _longest(reference, few, axis, length)
        if longest is not None:
            yield f"length {longest[main].shape[axis]}", longest
        one = resized(few, axis, length, 1)
        if length > 1 and problem_with(reference, one) is None:
            yield "length 1", one
        if longest is not None:
            return


def _other_image(reference: Side, few: Batch, main: int) -> Batch | None:
    """Larger and not square, where the model takes that; by its own axes, which need not be the last two."""
    first = few[main]
    spatial = [axis for axis in range(1, first.ndim) if first.shape[axis] > 4][-2:]
    for factors in _FACTORS if len(spatial) == 2 else ():
        changed = first
        for axis, factor in zip(spatial, factors, strict=True):
            changed = _stretched(changed, axis, int(first.shape[axis] * factor))
        batch = (*few[:main], changed, *few[main + 1 :])
        if problem_with(reference, batch) is None:
            return batch
    return None


def _weight_shapes(side: Side) -> Iterable[tuple[int, ...]]:
    """A module's without copying them."""
    if isinstance(side, TorchSide):
        return (tuple(one.shape) for one in side.model.parameters())
    return (array.shape for array in side.weights().values())


def _longest(reference: Side, few: Batch, axis: int, length: int) -> Batch | None:
    """The longest of the lengths that the weights name (a table of positions has one), or of doublings."""
    named = {size for shape in _weight_shapes(reference) for size in shape[:2]}
    doubled = {length * 2**step for step in range(1, 5)}
    room = _MOST_NUMBERS // max(sum(array[:1].size for array in few) // max(length, 1), 1)
    lengths = [size for size in sorted(named | doubled) if length < size <= min(_LONGEST * length, room)]
    for size in list(reversed(lengths))[:_MOST_TRIES]:
        batch = resized(few, axis, length, size)
        if problem_with(reference, batch) is None:
            return batch
    return None
