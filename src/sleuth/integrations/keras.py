"""`model.fit(..., callbacks=[SleuthCallback()])`: Keras 3 training, watched, on the torch and JAX backends."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import keras

from sleuth.findings import Finding
from sleuth.integrations.session import Session
from sleuth.live import EXPERIMENTS
from sleuth.live.keras import making
from sleuth.live.line import say

# Layers and optimisers made from here on are known by their lines.
making.listen()


class SleuthCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Watches `fit`. The report is printed when it ends; where `sleuth run` or `sleuth.watch()` is at work, it goes
    there. A number that is not finite ends the training."""

    def __init__(
        self,
        *,
        keep_going: bool = False,
        ignore: Collection[str] = (),
        experiments: float = EXPERIMENTS,
        record: str | Path | None = None,
    ) -> None:
        super().__init__()
        self._session = Session(keep_going=keep_going, ignore=ignore, experiments=experiments, record=record)

    @property
    def findings(self) -> list[Finding]:
        """What was found in the last training."""
        return self._session.findings

    def on_train_begin(self, logs: Any = None) -> None:
        if keras.backend.backend() not in ("torch", "jax"):
            say(f"Keras on {keras.backend.backend()} is not watched yet; the torch and jax backends are")
        self._session.begin()
        # For a watch that has begun only now: Keras made the function for its steps before it called us.
        self.model.make_train_function()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._session.should_stop:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        self._session.end()
