"""Which value of the target is which of the reference: by the exporter's word, by their numbers, by their place."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sleuth.compare.partners import partners
from sleuth.compare.reference import Reference
from sleuth.compare.scores import Noise, score
from sleuth.compare.values import Array, Captured, Value, in_float64, is_real

# Two values nearer than this, relative to their size, are the same value with a fault upstream.
_NEAR = 0.2
# Nearer than this nothing but rounding is between them, and perhaps a small fault.
_SURELY = 1e-4
# Of those that are the same numbers in another order the first is taken, however their sums are rounded.
_CLEARLY_NEARER = 1 - 1e-6
# So many numbers of a value are enough to know it by.
_ENOUGH = 1 << 14
_MOMENTS_NEAR = 0.1
_MOST_AXES = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """The target's value in the reference's layout is `arranged(array, axes, shape)`."""

    node: str
    value: str
    axes: tuple[int, ...]
    how: Literal["name", "numbers", "place"]


def align(reference: Reference, truth: Captured, noises: Mapping[str, Noise], target: Captured) -> list[Pair]:
    """At most one pair a node; in the order of the reference."""
    table = _Table(reference, truth, noises, target)
    table.by_name()
    table.by_numbers()
    table.by_place()
    return sorted(table.pairs.values(), key=lambda pair: reference.order[pair.node])


def arranged(array: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """The target's array with its axes in the reference's order."""
    return array.transpose(axes).reshape(shape) if len(axes) == array.ndim else array.reshape(shape)


def arrangements(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All orders of the axes of `shape` that give `wanted`, the unchanged one first; axes of 1 do not matter."""
    if int(np.prod(shape)) != int(np.prod(wanted)):
        return
    if len(shape) > _MOST_AXES or sorted(n for n in shape if n > 1) != sorted(n for n in wanted if n > 1):
        yield tuple(range(len(shape)))
        return
    core = [n for n in wanted if n > 1]
    ones = [axis for axis, n in enumerate(shape) if n == 1]
    for order in itertools.permutations([axis for axis, n in enumerate(shape) if n > 1]):
        if [shape[axis] for axis in order] == core:
            yield (*order, *ones)


class _Table:
    """The pairs found so far."""

    def __init__(self, reference: Reference, truth: Captured, noises: Mapping[str, Noise], target: Captured) -> None:
        self._reference = reference
        self._truth = truth
        self._noises = noises
        self._target = target
        self.pairs: dict[str, Pair] = {}
        self._taken: set[str] = set()
        self._moments: dict[str, Array] = {}
        self._moments_of_target: dict[str, Array] = {}

    def by_name(self) -> None:
        told = partners(self._reference, self._target.origins)
        for value in self._target.values:
            node = told.get(value.name, value.partner)
            if node not in self._noises or node in self.pairs or value.name not in self._target.arrays:
                continue
            if value.name not in told and self._reference.value(node).op != value.op:
                continue
            array, wide = self._target.arrays[value.name], self._truth.arrays[node]
            axes = next(arrangements(array.shape, wide.shape), None)
            if axes is not None:
                if array.shape != wide.shape:
                    axes = min(arrangements(array.shape, wide.shape), key=lambda one: self._distance(node, array, one))
                self._pair(Pair(node, value.name, axes, "name"))

    def by_numbers(self) -> None:
        """First all that agree, whatever their order; then, in between, those that nearly do."""
        for least in (_SURELY, _NEAR):
            for value in self._free():
                found = self._nearest(value.name, least)
                if found is not None:
                    self._pair(found)

    def by_place(self) -> None:
        """What is left over lies between its neighbours: the same operation of the same size is taken for the same."""
        while self._between_neighbours():
            pass

    def _between_neighbours(self) -> bool:
        """Only where both sides have as many of a kind: of one more or less it is not known which is which."""
        gaps = self._gaps()
        theirs = Counter((gaps[value.name], self._kind(value)) for value in self._free())
        ours = {gap: self._kinds_within(*gap) for gap in set(gaps.values())}
        found = False
        for value in self._free():
            gap, kind = gaps[value.name], self._kind(value)
            pair = self._placed(value, *gap) if theirs[gap, kind] == ours[gap][kind] else None
            if pair is not None:
                self._pair(pair)
                found = True
        return found

    def _gaps(self) -> dict[str, tuple[int, int]]:
        """Between which two nodes each value that is left over must lie."""
        positions = {pair.value: self._reference.order[pair.node] for pair in self.pairs.values()}
        order = [value.name for value in self._target.values]
        places = np.array([positions.get(name, -1) for name in order])
        before = np.maximum.accumulate(places)
        gaps = {}
        for value in self._free():
            here = order.index(value.name)
            low = int(before[here])
            after = places[here + 1 :]
            gaps[value.name] = low, int(min(after[after > low], default=10**9))
        return gaps

    def _kind(self, value: Value) -> tuple[str, int]:
        return value.op, self._target.arrays[value.name].size

    def _kinds_within(self, low: int, high: int) -> Counter[tuple[str, int]]:
        return Counter(
            (self._reference.value(node).op, self._truth.arrays[node].size)
            for node in self._noises
            if node not in self.pairs and low < self._reference.order[node] < high
        )

    def _placed(self, value: Value, low: int, high: int) -> Pair | None:
        array = self._target.arrays[value.name]
        for node in self._noises:
            if node in self.pairs or not low < self._reference.order[node] < high:
                continue
            if self._reference.value(node).op != value.op:
                continue
            shape = self._truth.arrays[node].shape
            axes = self._usual_order(node, array, list(arrangements(array.shape, shape)))
            if axes is not None:
                return Pair(node, value.name, axes, "place")
        return None

    def _usual_order(self, node: str, array: Array, choices: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        """Where axes are of equal size, and the numbers are wrong, the order is that of the values that agree."""
        telling = [pair for pair in self.pairs.values() if 1 not in self._truth.arrays[pair.node].shape]
        agreed = Counter(pair.axes for pair in telling if pair.how != "place")  # an axis of one fits anywhere
        for axes, _ in agreed.most_common():
            if axes in choices:
                return axes
        if array.shape == self._truth.arrays[node].shape:
            return choices[0]
        return min(choices, key=lambda one: self._distance(node, array, one), default=None)

    def _free(self) -> list[Value]:
        return [
            value
            for value in self._target.values
            if value.name not in self._taken
            and value.name in self._target.arrays
            and is_real(self._target.arrays[value.name])
            and self._target.arrays[value.name].size > 1
        ]

    def _pair(self, pair: Pair) -> None:
        self.pairs[pair.node] = pair
        self._taken.add(pair.value)

    def _nearest(self, name: str, least: float) -> Pair | None:
        array = self._target.arrays[name]
        own = self._moments_of_target.get(name)
        if own is None:
            own = self._moments_of_target[name] = _moments(array)
        if not np.isfinite(own).all():
            return None
        best = None
        for node in self._noises:
            wide = self._truth.arrays[node]
            if node in self.pairs or wide.size != array.size or not self._moments_near(node, own):
                continue
            for axes in arrangements(array.shape, wide.shape):
                distance = self._distance(node, array, axes)
                if distance < (least if best is None else least * _CLEARLY_NEARER):
                    best, least = Pair(node, name, axes, "numbers"), distance
                    if not score(wide, self._noises[node], arranged(array, axes, wide.shape)).parted:
                        return best
        return best

    def _moments_near(self, node: str, own: Array) -> bool:
        if node not in self._moments:
            self._moments[node] = _moments(self._truth.arrays[node])
        return bool(np.abs(self._moments[node] - own).max() <= _MOMENTS_NEAR * max(self._moments[node][1], 1e-30))

    def _distance(self, node: str, array: Array, axes: tuple[int, ...]) -> float:
        wide = self._truth.arrays[node]
        off = (arranged(array, axes, wide.shape) - wide).ravel()
        return float(np.sqrt(np.vdot(off, off).real / off.size)) / max(self._noises[node].scale, 1e-30)


def _moments(array: Array) -> Array:
    """Nearly the same for every order of the axes: mean, rms, mean size and five quantiles of a part that is enough."""
    flat = array.ravel()[:: max(array.size // _ENOUGH, 1)]
    wide = np.abs(flat) if array.dtype.kind == "c" else in_float64(flat)
    with np.errstate(invalid="ignore", over="ignore"):  # a mask fills with infinities
        rms = np.sqrt(np.mean(wide**2))
        return np.array([wide.mean(), rms, np.abs(wide).mean(), *np.quantile(wide, (0.1, 0.25, 0.5, 0.75, 0.9))])
