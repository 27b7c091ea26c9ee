"""The mean loss of each pass over validation data: losses that are computed without gradients between two steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from sleuth.findings import Place
from sleuth.live.signals import Evaluation, Run

_MOST = 1024


class Evaluations:
    """Losses of one step belong to one pass. `put` takes its mean as a value."""

    def __init__(self, run: Run, put: Callable[[int, dict[str, float]], None]) -> None:
        self._run = run
        self._put = put
        self._step = -1
        self._total: Any = 0.0
        self._count = 0
        self._place: Place | None = None

    def add(self, loss: Tensor, place: Callable[[], Place | None]) -> None:
        if self._count and self._step != self._run.step:
            self.close()
        if not self._count:
            self._step, self._place = self._run.step, place()
        # Kept on the device: to read it would wait for the device.
        self._total = self._total + loss.detach().double()
        self._count += 1

    def close(self) -> None:
        """What was gathered is a whole pass."""
        if not self._count:
            return
        mean = float(self._total) / self._count
        self._run.evaluations.append(Evaluation(self._step, mean, self._place))
        self._put(self._step, {"evaluation loss": mean})
        if len(self._run.evaluations) > _MOST:
            del self._run.evaluations[1::2]
        self._total, self._count = 0.0, 0
