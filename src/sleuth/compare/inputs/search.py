"""A short search, without derivatives, for the input on which two models disagree most."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sleuth.compare.inputs.limits import Limit
from sleuth.compare.inputs.sample import Sample
from sleuth.compare.values import Array, Batch, Input, is_real

Generator = np.random.Generator
# A float input may grow to so many times the largest number of the one that the search began with.
_GROWTH = 8.0
# A step that did not help is taken smaller the next time, one that did larger.
_SHRINK, _STRETCH = 0.9, 1.3


def search(
    score: Callable[[Batch], float],
    start: Sample,
    inputs: Sequence[Input] = (),
    limits: Mapping[str, Limit] | None = None,
    *,
    seed: int = 0,
    rounds: int = 40,
    seconds: float | None = None,
) -> Sample:
    """The worst sample found in so many rounds, the start where nothing is worse; the same for the same seed.

    `score` says how far apart the two are on a batch. What it cannot judge (it raises, or gives NaN) is passed over."""
    climb = _Climb(score, start, [one.name for one in inputs], limits or {}, seed)
    deadline = None if seconds is None else time.monotonic() + seconds
    for _ in range(rounds):
        if math.isinf(climb.best_score) or (deadline is not None and time.monotonic() > deadline):
            break
        climb.step()
    return climb.best


class _Climb:
    """The best so far, and how large a step to take from it."""

    def __init__(
        self, score: Callable[[Batch], float], start: Sample, names: list[str], limits: Mapping[str, Limit], seed: int
    ) -> None:
        self._score = score
        self._random = np.random.default_rng(seed)
        self._seed = seed
        self._limits = [limits.get(name) for name in names] or [None] * len(start.batch)
        self._bounds = [_bound(array) for array in start.batch]
        self._reach = 0.5
        self.best = start
        self.best_score = self._judged(start.batch)

    def step(self) -> None:
        batch = tuple(self._changed(place, array) for place, array in enumerate(self.best.batch))
        found = self._judged(batch)
        if found > self.best_score:
            self.best, self.best_score = Sample(f"worst found from {_origin(self.best)}", batch, self._seed), found
            self._reach = min(self._reach * _STRETCH, 1.0)
        else:
            self._reach = max(self._reach * _SHRINK, 0.02)

    def _judged(self, batch: Batch) -> float:
        try:
            found = float(self._score(batch))
        except Exception:  # a batch that one of the two cannot take, whatever it raises
            return -math.inf
        return -math.inf if math.isnan(found) else found

    def _changed(self, place: int, array: Array) -> Array:
        limit = self._limits[place]
        if is_real(array):
            return self._moved(array, self._bounds[place], limit)
        if limit is not None and limit.kind in ("ids", "bytes") and array.size:
            return self._swapped(array, limit)
        return array

    def _moved(self, array: Array, bound: float, limit: Limit | None) -> Array:
        """Every row goes its own way, so that one batch tries many at once."""
        rows = array.reshape(len(array), -1) if array.ndim else array.reshape(1, 1)
        moved = np.stack(
            [_MOVES[self._random.integers(len(_MOVES))](self._random, row, rows, self._reach) for row in rows]
        )
        low, high = (-bound, bound) if limit is None else (limit.least, limit.most)
        moved = np.clip(moved, low, high)
        return np.ascontiguousarray(moved.reshape(array.shape).astype(array.dtype))

    def _swapped(self, array: Array, limit: Limit) -> Array:
        """Some ids become others, new ones or those of other places, so that what disagrees spreads."""
        new = self._random.integers(int(limit.least), int(limit.most) + 1, array.shape)
        known = self._random.permutation(array.ravel()).reshape(array.shape)
        drawn = np.where(self._random.random(array.shape) < 0.5, new, known)
        chance = self._random.random(array.shape)
        changed = np.where((chance < self._reach / 2) | (chance == chance.min()), drawn, array)
        if array.ndim > 1 and self._random.random() < 0.3:
            changed = np.where(self._random.random(array.shape) < self._reach / 4, np.roll(changed, 1, -1), changed)
        return changed.astype(array.dtype)


def _bound(array: Array) -> float:
    if not is_real(array) or not array.size:
        return 0.0
    finite = np.abs(np.asarray(array, np.float64))
    largest = float(finite[np.isfinite(finite)].max(initial=0.0))
    return _GROWTH * (largest or 1.0)


def _origin(sample: Sample) -> str:
    return sample.label.removeprefix("worst found from ")


def _direction(random: Generator, row: Array, rows: Array, reach: float) -> Any:
    size = float(np.sqrt(np.mean(np.square(row, dtype=np.float64)))) or 1.0
    return row + reach * size * random.standard_normal(row.shape)


def _scaled(random: Generator, row: Array, rows: Array, reach: float) -> Any:
    return row * 2.0 ** (2 * reach * random.standard_normal())


def _coordinates_scaled(random: Generator, row: Array, rows: Array, reach: float) -> Any:
    chosen = random.random(row.shape) < 0.2
    return np.where(chosen, row * 2.0 ** (3 * reach * random.standard_normal(row.shape)), row)


def _crossed(random: Generator, row: Array, rows: Array, reach: float) -> Any:
    return np.where(random.random(row.shape) < 0.5, row, rows[random.integers(len(rows))])


def _shifted(random: Generator, row: Array, rows: Array, reach: float) -> Any:
    size = float(np.abs(row).mean()) or 1.0
    return row + reach * size * random.standard_normal()


def _kept(random: Generator, row: Array, rows: Array, reach: float) -> Any:
    return row


_MOVES = (_direction, _scaled, _coordinates_scaled, _crossed, _shifted, _kept)
