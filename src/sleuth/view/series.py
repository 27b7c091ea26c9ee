"""One curve, held in a bounded number of points: neighbours are merged as it grows, and no extreme is lost."""

from __future__ import annotations

import base64
import sys
from array import array
from bisect import bisect_right
from typing import Any

# More points than a wide screen has pixels for a chart would be drawn on top of each other.
MOST_POINTS = 1500


class Series:
    """Each point covers a stretch of steps: its mean, its lowest and highest value, and how many values they are of."""

    __slots__ = (
        "_rows_in_last",
        "changed",
        "count",
        "high",
        "low",
        "mean",
        "rebuilt",
        "rows_per_point",
        "step",
        "steps",
    )

    def __init__(self) -> None:
        self.step, self.steps, self.mean, self.low, self.high, self.count = (array("d") for _ in range(6))
        # The version of the page's data that last changed each point, and that last changed them all.
        self.changed = array("q")
        self.rebuilt = -1
        self.rows_per_point = 1
        self._rows_in_last = 0

    def __len__(self) -> int:
        return len(self.step)

    def add(self, step: int, steps: int, value: Any, version: int) -> None:
        """One value of a row. Raises TypeError or ValueError where it is none."""
        mean, low, high, count = numbers(value)
        if self._rows_in_last in (0, self.rows_per_point):
            if len(self.step) >= MOST_POINTS:
                self._halve(version)
            self._append(step, steps, mean, low, high, count, version)
        else:
            self._widen(step, steps, mean, low, high, count)
            self.changed[-1] = version
            self._rows_in_last += 1

    def since(self, version: int) -> int:
        """The index of the first point that is newer than this version of the data."""
        return 0 if self.rebuilt > version else bisect_right(self.changed, version)

    def columns(self, start: int, last: tuple[float, ...] = ()) -> list[array[float]]:
        """First step, number of steps, mean, lowest and highest from that point on, and one more point if given."""
        columns = [column[start:] for column in (self.step, self.steps, self.mean, self.low, self.high)]
        for column, number in zip(columns, last, strict=False):
            column.append(number)
        return columns

    def _append(self, *point: float) -> None:
        step, steps, mean, low, high, count, version = point
        self.step.append(step)
        self.steps.append(steps)
        self.mean.append(mean)
        self.low.append(low)
        self.high.append(high)
        self.count.append(count)
        self.changed.append(int(version))
        self._rows_in_last = 1

    def _widen(self, step: float, steps: float, mean: float, low: float, high: float, count: float) -> None:
        """Let the last point take in one more stretch. A NaN stays visible in the mean, and spares the extremes."""
        before = self.count[-1]
        self.steps[-1] = max(self.steps[-1], step + steps - self.step[-1])
        self.mean[-1] = (self.mean[-1] * before + mean * count) / (before + count or 1)
        self.low[-1] = _lower(self.low[-1], low)
        self.high[-1] = -_lower(-self.high[-1], -high)
        self.count[-1] = before + count

    def _halve(self, version: int) -> None:
        points = list(zip(self.step, self.steps, self.mean, self.low, self.high, self.count, strict=True))
        for column in (self.step, self.steps, self.mean, self.low, self.high, self.count, self.changed):
            del column[:]
        for index, point in enumerate(points):
            if index % 2:
                self._widen(*point)
            else:
                self._append(*point, version)
        self.rebuilt = version
        self.rows_per_point *= 2


def numbers(value: Any) -> tuple[float, float, float, float]:
    """Mean, lowest, highest and count of what a row holds: these four, or one number, or a word such as "nan"."""
    if type(value) is list:
        mean, low, high, count = map(float, value)
        return mean, low, high, count
    one = float(value)
    return one, one, one, 1.0


def _lower(one: float, other: float) -> float:
    return other if other < one or one != one else one


def packed(column: array[float]) -> str:
    """The numbers as little-endian doubles in base64: exact, NaN included, and read by the browser in one go."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return base64.b64encode(column.tobytes()).decode("ascii")
