"""Two listeners at one tap: the story of NaN and Inf first, which may repeat a step; how the network learns second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sleuth.live.learning.listener import Learning
from sleuth.live.nonfinite import NonFinite


class Both:
    """A taps.Listener. While a step is replayed, only the first is told."""

    def __init__(self, story: NonFinite, learning: Learning) -> None:
        self._story = story
        self._learning = learning
        # These concern the first alone.
        self.module_with_buffers = story.module_with_buffers
        self.indices_drawn = story.indices_drawn
        self.loader_reset = story.loader_reset
        self.scaler_updates = story.scaler_updates

    def again(self, iterator: Any) -> tuple[bool, Any]:
        self._learning.fetching()
        return self._story.again(iterator)

    def optimizer_made(self, optimizer: Any) -> None:
        self._story.optimizer_made(optimizer)
        self._learning.optimizer_made(optimizer)

    def backward_begins(self, tensors: Any) -> None:
        self._story.backward_begins(tensors)
        if self._learning.attentive:
            if self._story.tracing:
                self._learning.suspend()
            else:
                self._learning.backward_begins(tensors)

    def backward_ended(self, tensors: Any) -> None:
        self._story.backward_ended(tensors)
        if self._learning.attentive and not self._story.tracing:
            self._learning.backward_ended(tensors)

    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if self._learning.attentive and not self._story.tracing:
            self._learning.step_begins(optimizer, closure=len(args) > 1 or "closure" in kwargs)
        return self._story.step_begins(optimizer, args, kwargs)

    def step_ended(self, optimizer: Any) -> None:
        told = not self._story.tracing
        self._story.step_ended(optimizer)
        if self._story.tracing:
            self._learning.suspend()
        elif told:
            self._learning.step_ended(optimizer)

    def loader_ended(self, iterator: Any) -> None:
        self._story.loader_ended(iterator)
        self._learning.loader_ended(iterator)

    def dealt(self, iterator: Any, batch: Any) -> None:
        self._story.dealt(iterator, batch)
        self._learning.dealt(iterator, batch, self._story.tracing)

    def loss_scaled(self, scaler: Any) -> None:
        self._story.loss_scaled(scaler)
        if not self._story.tracing:
            self._learning.loss_scaled(scaler)

    def heard(self, write: Callable[[int, float, float], object]) -> Callable[[int, float, float], object]:
        """What a step's loss and gradient norm are told to."""

        def tell(step: int, loss: float, gradient_norm: float) -> None:
            write(step, loss, gradient_norm)
            self._learning.heard(loss, gradient_norm)

        return tell

    @contextmanager
    def muted(self) -> Iterator[None]:
        """For experiments of our own: nobody listens to them."""
        before = self._story.off, self._learning.off
        self._story.off = self._learning.off = True
        try:
            yield
        finally:
            self._story.off, self._learning.off = before
