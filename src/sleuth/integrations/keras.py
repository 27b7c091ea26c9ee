"""`model.fit(..., callbacks=[SleuthCallback()])`: Keras 3 training, watched, on the torch and JAX backends."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import keras

from sleuth.findings import Finding
from sleuth.integrations.session import Session
from sleuth.live import EXPERIMENTS
from sleuth.live.keras import making
from sleuth.program import users_frame

# Layers and optimisers made from here on are known by their lines.
making.listen()
if keras.backend.backend() == "jax":
    from sleuth.live.jax import differentiated

    differentiated.listen()


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
        self._on: Any = None

    @property
    def findings(self) -> list[Finding]:
        """What was found in the last training."""
        return self._session.findings

    def on_train_begin(self, logs: Any = None) -> None:
        frame = users_frame(sys._getframe(1))
        line = (frame.f_code, frame.f_lasti) if frame is not None else None
        watch = self._session.begin()
        try:
            self._on = _adapter()(self.model, watch, line)
            self._on.begin()
        except Exception as error:
            watch.host.failed(error)
            self._on = None
        atexit.register(self._end)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._on is not None and self._on.went_bad and not self._session.keep_going:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        self._end()

    def _end(self) -> None:
        on, self._on = self._on, None
        atexit.unregister(self._end)
        if on is not None:
            try:
                on.end()
            except Exception as error:
                self._session.begin().host.failed(error)
        self._session.end()


def _adapter() -> Any:
    backend = keras.backend.backend()
    if backend == "jax":
        from sleuth.live.keras.on_jax import OnJax

        return OnJax
    if backend == "torch":
        from sleuth.live.keras.on_torch import OnTorch

        return OnTorch
    raise NotImplementedError(f"Keras on {backend} is not watched; the torch and jax backends are")
