"""The batches and epochs of a training: which classes a batch holds, how many make an epoch, what was measured then."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from sleuth.findings import Place
from sleuth.live.signals import Evaluation, Run

_BATCHES = 256
_FEWEST, _MOST_CLASSES = 8, 1000


class Epochs:
    """`place` is where the user has the model trained; `put` takes values of a step by name."""

    def __init__(self, run: Run, place: Place | None, put: Callable[[int, dict[str, float]], object]) -> None:
        self._run, self._place, self._put = run, place, put
        self._classes: set[int] = set()
        self._dealt = self._dealt_before = 0

    def dealt(self, y: Any) -> None:
        """A batch with these labels; those of the first epoch are looked at."""
        self._dealt += 1
        if self._dealt > _BATCHES or self._run.epochs or y is None or isinstance(y, list | tuple | dict):
            return
        classes = _classes(np.asarray(keras.ops.convert_to_numpy(y)))
        if classes is not None:
            self._run.batches_seen += 1
            self._run.batches_of_one_class += len(classes) == 1
            self._classes.update(classes)
            self._run.classes_seen = len(self._classes)

    def ended(self, step: int, logs: dict[str, Any]) -> None:
        self._run.epochs += 1
        self._run.batches_per_epoch, self._dealt_before = self._dealt - self._dealt_before, self._dealt
        loss = float(logs.get("val_loss", math.nan))
        if math.isfinite(loss):
            self._run.evaluations.append(Evaluation(step, loss, self._place))
            self._put(step, {"evaluation loss": loss})


def _classes(y: Any) -> set[int] | None:
    """The classes in a batch of class numbers or one-hot rows; None for labels of another kind."""
    if y.ndim == 2 and y.shape[1] > 1:
        if not (((y == 0) | (y == 1)).all() and (y.sum(axis=1) == 1).all()):
            return None
        y = y.argmax(axis=1)
    if y.ndim > 2 or y.size < _FEWEST or not (y == np.round(y)).all():
        return None
    found = np.unique(y)
    return {int(value) for value in found} if len(found) <= _MOST_CLASSES else None
