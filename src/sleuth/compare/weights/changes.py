"""How an array can be laid out in another library: axes in another order, reversed, in other blocks, reshaped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sleuth.compare.values import Array

_MOST_AXES = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to an array of the first file, in this order, to get the one of the second.

    `blocks`: its axis `along` is cut into as many equal parts, which are taken in this order (the gates of an LSTM).
    `regrouped`: it is read in this finer shape, whose axes are put into this order, and read in its own shape again
    (what was flattened in another order)."""

    blocks: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()
    flipped: tuple[int, ...] = ()
    shape: tuple[int, ...] | None = None
    along: int = 0
    regrouped: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    def __call__(self, array: Array) -> Array:
        if self.regrouped is not None:
            array = array.reshape(self.regrouped[0]).transpose(self.regrouped[1]).reshape(array.shape)
        if self.blocks:
            parts = np.split(array, len(self.blocks), self.along)
            array = np.concatenate([parts[place] for place in self.blocks], self.along)
        if self.axes:
            array = array.transpose(self.axes)
        if self.flipped:
            array = np.flip(array, self.flipped)
        return array if self.shape is None else array.reshape(self.shape)

    @property
    def nothing(self) -> bool:
        return self == Change()

    def code(self, name: str) -> str:
        """The same as an expression of NumPy."""
        if self.regrouped is not None:
            finer, order = self.regrouped
            name = f"{name}.reshape{finer}.transpose{order}.reshape({name}.shape)"
        if self.blocks:
            along = f", {self.along}" if self.along else ""
            name = f"np.concatenate([np.split({name}, {len(self.blocks)}{along})[i] for i in {self.blocks}]{along})"
        if self.axes:
            name = f"{name}.T" if self.axes == (1, 0) else f"{name}.transpose{self.axes}"
        if self.flipped:
            name = f"np.flip({name}, {self.flipped})"
        return name if self.shape is None else f"{name}.reshape({self.shape})"

    def says(self) -> str:
        """`transposed`, `axes (2, 3, 1, 0)`, `flipped along 0 and 1`."""
        parts = []
        if self.regrouped is not None:
            finer, order = self.regrouped
            parts.append(f"read as {' x '.join(map(str, finer))} with axes in the order {order}")
        if self.blocks:
            parts.append(f"its {len(self.blocks)} blocks in the order {self.blocks}")
        if self.axes:
            parts.append("transposed" if self.axes == (1, 0) else f"axes in the order {self.axes}")
        if self.flipped:
            parts.append("flipped along " + " and ".join(map(str, self.flipped)))
        if self.shape is not None:
            parts.append(f"reshaped to {' x '.join(map(str, self.shape)) or 'one number'}")
        return ", ".join(parts) or "as it is"


def changes(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[Change]:
    """All that give an array of the wanted shape, the simplest first."""
    yield from arranged(shape, wanted, flips=False)
    yield from arranged(shape, wanted, flips=True)
    yield from _reshaped(shape, wanted)
    for along in sorted({0, max(len(shape) - 1, 0)}):
        for order in _orders(shape, along):
            for change in arranged(shape, wanted, flips=False):
                yield replace(change, blocks=order, along=along)


def _reshaped(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[Change]:
    """Any order of the axes, and then other axes: the heads of attention, which Keras keeps as an axis of their own."""
    if 2 <= len(shape) <= 4 and len(shape) != len(wanted):
        for order in itertools.islice(itertools.permutations(range(len(shape))), 1, None):
            yield Change(axes=order, shape=wanted)


def changes_of_joined(parts: int, shape: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[Change]:
    """Of parts joined along the first axis, with the gates of each in another order: the two biases of a GRU."""
    inner = (shape[0] // parts, *shape[1:])
    for order in _orders(inner, 0):
        blocks = tuple(part * len(order) + place for part in range(parts) for place in order)
        for change in arranged(shape, wanted, flips=False):
            yield replace(change, blocks=blocks)


def _orders(shape: tuple[int, ...], along: int) -> Iterator[tuple[int, ...]]:
    for count in (3, 4):
        if shape and shape[along] % count == 0 and shape[along]:
            yield from itertools.islice(itertools.permutations(range(count)), 1, None)


def arranged(shape: tuple[int, ...], wanted: tuple[int, ...], flips: bool) -> Iterator[Change]:
    """Axes in another order, and axes of length one put in or left out."""
    if len(shape) > _MOST_AXES:
        orders: Iterator[tuple[int, ...]] = iter([tuple(range(len(shape)))])
    else:
        orders = itertools.permutations(range(len(shape)))
    reshaped = _without_ones(shape), _without_ones(wanted)
    for order in orders:
        ordered = tuple(shape[axis] for axis in order)
        axes = () if order == tuple(range(len(shape))) else order
        if ordered == wanted:
            yield from (Change((), axes, flipped) for flipped in _flips(wanted, flips))
        elif not flips and (_without_ones(ordered) == reshaped[1] or not axes):
            yield Change((), axes, (), wanted)


def _flips(shape: tuple[int, ...], any_flip: bool) -> Iterator[tuple[int, ...]]:
    if not any_flip:
        yield ()
        return
    long = [axis for axis, length in enumerate(shape) if length > 1]
    for count in range(1, min(len(long), 3) + 1):
        yield from itertools.combinations(long, count)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(length for length in shape if length != 1)
