"""The trainings of a program: one for each model and the optimiser it was compiled with, in the order they go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from sleuth.live.signals import Run

# So many are kept open at a time: the one that goes on, and one that it may take turns with.
_OPEN = 2


class Training(Protocol):
    """How one model learns."""

    model: Any
    optimizer: Any
    run: Run
    off: bool

    @property
    def steps(self) -> int: ...
    def epoch_ended(self, logs: dict[str, Any]) -> None: ...
    def end(self, error: BaseException | None) -> None: ...


class Purse:
    """Seconds that all experiments together may take."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds


class Trainings:
    """A Guest of the watch. `begin` makes a training for a model."""

    def __init__(self, begin: Callable[[Any], Training], counted_elsewhere: bool) -> None:
        self._begin = begin
        self._open: list[Training] = []
        # Steps that torch's own listener counts are not ours to count.
        self._counted_elsewhere = counted_elsewhere
        self._steps_before = 0
        self._under_way = threading.local()

    def of(self, model: Any) -> Any:
        """The training that a step of this model belongs to."""
        for training in self._open:
            if training.model is model and training.optimizer is model.optimizer:
                if training is not self._open[-1]:
                    self._take_turns(training, self._open[-1])
                    self._open.remove(training)
                    self._open.append(training)
                return training
        while len(self._open) >= _OPEN:
            self._close(self._open.pop(0), None)
        training = self._begin(model)
        self._open.append(training)
        return training

    def known(self, model: Any) -> Training | None:
        """The newest training of a model, if it has one."""
        return next((training for training in reversed(self._open) if training.model is model), None)

    @staticmethod
    def _take_turns(one: Training, other: Training) -> None:
        """Two that take turns, as the parts of a GAN do, are one training with two optimisers."""
        for mine, theirs in ((one.run, other.run), (other.run, one.run)):
            mine.optimizers += [
                held for held in theirs.optimizers if not any(held is known for known in mine.optimizers)
            ]

    def _close(self, training: Training, error: BaseException | None) -> None:
        self._steps_before += training.steps
        training.end(error)

    def cut_short(self) -> None:
        for training in self._open:
            training.run.laboratory.cut_short()

    @property
    def steps(self) -> int:
        if self._counted_elsewhere:
            return 0
        return self._steps_before + sum(training.steps for training in self._open)

    def finish(self, error: BaseException | None = None) -> None:
        while self._open:
            training = self._open.pop(0)
            self._close(training, None if self._open else error)

    # The step that is under way in this thread

    @property
    def under_way(self) -> Any:
        steps = getattr(self._under_way, "steps", None)
        return steps[-1] if steps else None

    def enter(self, training: Any) -> None:
        if not hasattr(self._under_way, "steps"):
            self._under_way.steps = []
        self._under_way.steps.append(training)

    def leave(self) -> None:
        self._under_way.steps.pop()
