"""How long one model takes against another: by turns, so that a busy machine is busy for both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from sleuth.compare.side import Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Batch
from sleuth.compare.variants.of_torch import VariantSide

_WARM_UP = 3
_LEAST_ROUNDS = 7
_MOST_ROUNDS = 60
_SECONDS = 2.0
_TICK = 1e-9
# A share below this is lost in the noise of a machine that does other things too.
_CLEARLY_SLOWER = 1.2
# Less than this is the price of a call, whatever the model: it says nothing about a larger one.
_OVERHEAD = 1e-4


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds a call and their ratio, medians of so many `turns`; `at_best` is the ratio of the fastest calls, which
    nothing disturbed, `mostly` the ratio that nine of ten turns exceed."""

    seconds: float
    eager_seconds: float
    ratio: float
    at_best: float
    mostly: float
    turns: int

    @property
    def slower(self) -> bool:
        """In nearly every turn: what is slower only now and then shared the machine with something else."""
        longer = self.seconds - self.eager_seconds > _OVERHEAD
        return longer and min(self.mostly, self.at_best) > _CLEARLY_SLOWER


def latency(side: Side, eager: Side, batch: Batch, eager_batch: Batch | None = None) -> Latency:
    one, other = call_of(side, batch), call_of(eager, batch if eager_batch is None else eager_batch)
    return by_turns(one, other)


def by_turns(
    one: Callable[[], object], other: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> Latency:
    for _ in range(_WARM_UP):
        one()
        other()
    times: list[tuple[float, float]] = []
    start = clock()
    while len(times) < _LEAST_ROUNDS or (len(times) < _MOST_ROUNDS and clock() - start < _SECONDS):
        times.append((_timed(one, clock), _timed(other, clock)))
    first, second = np.array(times).T
    ratios = first / np.maximum(second, _TICK)
    return Latency(
        float(np.median(first)),
        float(np.median(second)),
        float(np.median(ratios)),
        float(first.min() / max(second.min(), _TICK)),
        float(np.quantile(ratios, 0.1)),
        len(times),
    )


def call_of(side: Side, batch: Batch) -> Callable[[], object]:
    """The model alone where that can be had, without the way from and to NumPy."""
    if not isinstance(side, TorchSide):
        return lambda: side.run(batch)
    positional, named = side.arguments(batch)

    def call() -> object:
        with torch.no_grad():
            return side.model(*positional, **named)

    def in_surroundings() -> object:
        assert isinstance(side, VariantSide)
        with side.surroundings():
            return call()

    return in_surroundings if isinstance(side, VariantSide) else call


def _timed(call: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    call()
    return clock() - start
