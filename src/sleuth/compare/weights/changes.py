"""How an array can be laid out in another library: axes in another order, reversed, in other blocks, reshaped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sleuth.compare.values import Array

_MOST_AXES = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to an array of the first file, in this order, to get the one of the second.

    `blocks`: its first axis is cut into as many equal parts, which are taken in this order (the gates of an LSTM)."""

    blocks: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()
    flipped: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()

    def __call__(self, array: Array) -> Array:
        if self.blocks:
            parts = np.split(array, len(self.blocks))
            array = np.concatenate([parts[place] for place in self.blocks])
        if self.axes:
            array = array.transpose(self.axes)
        if self.flipped:
            array = np.flip(array, self.flipped)
        return array.reshape(self.shape) if self.shape else array

    @property
    def nothing(self) -> bool:
        return self == Change()

    def code(self, name: str) -> str:
        """The same as an expression of NumPy."""
        if self.blocks:
            name = f"np.concatenate([np.split({name}, {len(self.blocks)})[i] for i in {self.blocks}])"
        if self.axes:
            name = f"{name}.T" if self.axes == (1, 0) else f"{name}.transpose{self.axes}"
        if self.flipped:
            name = f"np.flip({name}, {self.flipped})"
        return f"{name}.reshape{self.shape}" if self.shape else name

    def says(self) -> str:
        """`transposed`, `axes (2, 3, 1, 0)`, `flipped along 0 and 1`."""
        parts = []
        if self.blocks:
            parts.append(f"its {len(self.blocks)} blocks in the order {self.blocks}")
        if self.axes:
            parts.append("transposed" if self.axes == (1, 0) else f"axes in the order {self.axes}")
        if self.flipped:
            parts.append("flipped along " + " and ".join(map(str, self.flipped)))
        if self.shape:
            parts.append(f"reshaped to {' x '.join(map(str, self.shape))}")
        return ", ".join(parts) or "as it is"


def changes(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[Change]:
    """All that give an array of the wanted shape, the simplest first."""
    yield from _arranged(shape, wanted, flips=False)
    yield from _arranged(shape, wanted, flips=True)
    for count in (3, 4):
        if shape and shape[0] % count == 0 and shape[0] >= count:
            for order in itertools.permutations(range(count)):
                if order != tuple(range(count)):
                    for change in _arranged(shape, wanted, flips=False):
                        yield Change(order, change.axes, (), change.shape)


def _arranged(shape: tuple[int, ...], wanted: tuple[int, ...], flips: bool) -> Iterator[Change]:
    if len(shape) > _MOST_AXES:
        orders: Iterator[tuple[int, ...]] = iter([tuple(range(len(shape)))])
    else:
        orders = itertools.permutations(range(len(shape)))
    reshaped = _without_ones(shape), _without_ones(wanted)
    for order in orders:
        arranged = tuple(shape[axis] for axis in order)
        axes = () if order == tuple(range(len(shape))) else order
        if arranged == wanted:
            yield from (Change((), axes, flipped) for flipped in _flips(wanted, flips))
        elif not flips and (_without_ones(arranged) == reshaped[1] or not axes):
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
