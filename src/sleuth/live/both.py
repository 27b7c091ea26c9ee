"""Two listeners at one tap: the story of NaN and Inf first, which may repeat a step; how the network learns second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from sleuth.live.learning.listener import Learning
from sleuth.live.learning.wiring import rate
from sleuth.live.nonfinite import NonFinite, Wrote, closure_in
from sleuth.live.ranks.drift import Drift
from sleuth.live.waits import Waits


class Both:
    """A taps.Listener. While a step is replayed, only the first is told."""

    def __init__(self, story: NonFinite, learning: Learning) -> None:
        self._story = story
        self._learning = learning
        self.drift = Drift(learning)
        self._stepping: Any = None
        # When the loader was asked for the batch that it is fetching.
        self._fetching: float | None = None
        self._data_seconds = 0.0
        self.waits = Waits(self._waited)
        self._last_step = 0.0
        self.first_backward: Callable[[], object] = lambda: None
        learning.loss_lines = story.loss_lines
        story.evaluated = self._evaluated
        story.alone = self._alone
        # These concern the first alone.
        self.module_with_buffers = story.module_with_buffers
        self.indices_drawn = story.indices_drawn
        self.loader_reset = story.loader_reset
        self.scaler_updates = story.scaler_updates
        self.gradients_computed = story.gradients_computed

    def again(self, iterator: Any) -> tuple[bool, Any]:
        self._learning.fetching()
        self._fetching = time.perf_counter()
        return self._story.again(iterator)

    def optimizer_made(self, optimizer: Any) -> None:
        self._story.optimizer_made(optimizer)
        self._learning.optimizer_made(optimizer)

    def _alone(self) -> None:
        self._learning.off = self.drift.off = True
        self._story.wrote = lambda *row: None

    def _waited(self, seconds: float) -> None:
        """For another thread or process: where the loader does, its whole fetching counts."""
        if self._fetching is None:
            self._data_seconds += seconds

    def backward_begins(self, tensors: Any) -> None:
        if not self._story.backwards:
            self.first_backward()
            self.waits.begin()
        if self._learning.compiles and self._story.stepped_unheard():
            self._learning.stepped_unheard()
        self._story.backward_begins(tensors)
        if self._learning.attentive:
            if self._story.tracing:
                self._learning.suspend()
            else:
                self._learning.backward_begins(tensors)
        if not self._story.tracing:
            self.drift.backward_begins()

    def backward_ended(self, tensors: Any) -> None:
        self._story.backward_ended(tensors)
        if self._learning.attentive and not self._story.tracing:
            self._learning.backward_ended(tensors)

    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if closure_in(args, kwargs) is None:
            self._gradients_are_there(optimizer)
        self._stepping = optimizer
        return self._story.step_begins(optimizer, args, kwargs)

    def _evaluated(self, optimizer: Any, times: int) -> None:
        """A closure has returned: the gradients are there now, as they are without one when the step begins."""
        if times == 1:
            self._gradients_are_there(optimizer)
        else:
            self._learning.evaluated_again(optimizer)

    def _gradients_are_there(self, optimizer: Any) -> None:
        if self._story.tracing:
            return
        if self._learning.attentive:
            self._learning.step_begins(optimizer)
        self._learning.measure()
        self.drift.step_begins(optimizer)

    def step_ended(self, optimizer: Any) -> None:
        told = not self._story.tracing
        self._stepping = None
        self._story.step_ended(optimizer)
        if self._story.tracing:
            self._learning.suspend()
        elif told:
            self._learning.step_ended(optimizer)
            self.drift.step_ended()

    def loader_ended(self, iterator: Any) -> None:
        self._fetching = None
        self._story.loader_ended(iterator)
        self._learning.loader_ended(iterator)

    def dealt(self, iterator: Any, batch: Any) -> None:
        if self._fetching is not None:
            self._data_seconds += time.perf_counter() - self._fetching
            self._fetching = None
        self._story.dealt(iterator, batch)
        self._learning.dealt(iterator, batch, self._story.tracing)

    def loss_scaled(self, scaler: Any) -> None:
        self._story.loss_scaled(scaler)
        if not self._story.tracing:
            self._learning.loss_scaled(scaler)

    def heard(self, put: Callable[[int, dict[str, float]], None], wants_layers: Callable[[int], bool]) -> Wrote:
        """What a step's loss and gradient norms are told to. `put` takes them on, as values by name."""

        def tell(
            step: int,
            loss: float,
            gradient_norm: float,
            parameters: Sequence[Tensor] = (),
            norms: Sequence[Tensor] = (),
        ) -> None:
            now = time.perf_counter()
            values = self._learning.heard(loss, gradient_norm)
            if self._stepping is not None:
                values["learning rate"] = rate(self._stepping)
            if self._last_step:
                values["step seconds"] = now - self._last_step
            values["data seconds"] = self._data_seconds
            if norms and wants_layers(step):
                with_gradient = [p for p in parameters if p.grad is not None]
                for parameter, norm in zip(with_gradient, norms, strict=True):
                    values[f"gradient norm/{self._learning.name(parameter)}"] = norm.item()
            self._last_step, self._data_seconds = now, 0.0
            put(step, values)

        return tell

    @contextmanager
    def taught_by(self, learning: Learning) -> Iterator[None]:
        """A training that has a listener of its own goes on: the usual one learns nothing from it."""
        usual, off = self._learning, self._learning.off
        self._learning, usual.off = learning, True
        try:
            yield
        finally:
            self._learning, usual.off = usual, off or learning.off

    @contextmanager
    def muted(self) -> Iterator[None]:
        """For experiments of our own: nobody listens to them."""
        before = self._story.off, self._learning.off
        self._story.off = self._learning.off = True
        try:
            yield
        finally:
            self._story.off, self._learning.off = before
