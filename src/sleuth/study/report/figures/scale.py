"""From values to places: an axis that starts and ends at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sleuth.study.report.numbers import MINUS

# How many times the median the largest value is.
_HEAP = 30
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """From the values `low`…`high` to the places `start`…`end`: a straight line, or one of powers of ten."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    powers: bool = False

    def __call__(self, value: float) -> float:
        if self.powers:
            part = math.log(value / self.low) / math.log(self.high / self.low)
            return self.start + part * (self.end - self.start)
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def scale(values: Iterable[float], start: float, end: float, ticks: int = 5, zero: bool = True) -> Scale:
    """An axis for these values; from zero where lengths are compared."""
    known = list(values) or [0.0]
    low, high = min(known), max(known)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = (low, low + 1) if low == 0 else (low - abs(low) / 2, high + abs(high) / 2)
    step = _round_step((high - low) / max(ticks, 1))
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    if not zero and first * step > 0 and low - first * step < step / 4:
        # A point on the axis itself is hard to see.
        first -= 1
    places = tuple(float(f"{index * step:.12g}") for index in range(first, last + 1))
    return Scale(places[0], places[-1], start, end, places)


def powers_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """An axis for positive values that are worlds apart; a tick at every power of ten, or every second, or third."""
    known = list(values)
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    last = max(last, first + 1)
    every = -(-(last - first) // 8)
    ticks = tuple(10.0**power for power in range(first, last + 1, every))
    return Scale(10.0**first, 10.0**last, start, end, ticks, powers=True)


def are_worlds_apart(values: Iterable[float]) -> bool:
    """On a straight axis all but a few would lie on one heap."""
    known = sorted(values)
    return bool(known) and known[0] > 0 and known[-1] > _HEAP * known[len(known) // 2] and known[-1] > 100 * known[0]


def tick_text(tick: float) -> str:
    """Round numbers need no more digits than they have."""
    return f"{tick:,.10f}".rstrip("0").rstrip(".").replace("-", MINUS) if abs(tick) < 1e15 else f"{tick:.0e}"


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in _STEPS if step * power >= rough * (1 - 1e-9))
