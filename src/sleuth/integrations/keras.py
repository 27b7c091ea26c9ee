"""`model.fit(..., callbacks=[SleuthCallback()])`: Keras 3 training, watched, on the torch and JAX backends."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

import keras

from sleuth import report
from sleuth.findings import Report
from sleuth.live import Watch
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

    def __init__(self) -> None:
        super().__init__()
        self._watch: Watch | None = None
        self._on: Any = None

    @property
    def findings(self) -> tuple[Any, ...]:
        return tuple(self._watch.host.findings) if self._watch is not None else ()

    def on_train_begin(self, logs: Any = None) -> None:
        frame = users_frame(sys._getframe(1))
        line = (frame.f_code, frame.f_lasti) if frame is not None else None
        # Poisoned updates are held back until `stop_training` is heard.
        watch = Watch(program=os.path.basename(sys.argv[0]) or "<python>", show=_print, keep_going=True)
        watch.start()
        self._watch = watch
        try:
            self._on = _adapter()(self.model, watch, line)
            self._on.begin()
        except Exception as error:
            watch.host.failed(error)
            self._on = None
        atexit.register(self._end)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._on is not None and self._on.went_bad:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        self._end()

    def _end(self) -> None:
        watch, on, self._on = self._watch, self._on, None
        atexit.unregister(self._end)
        if watch is None:
            return
        if on is not None:
            try:
                on.end()
            except Exception as error:
                watch.host.failed(error)
        watch.__exit__(None, None, None)


def _adapter() -> Any:
    backend = keras.backend.backend()
    if backend == "jax":
        from sleuth.live.keras.on_jax import OnJax

        return OnJax
    if backend == "torch":
        from sleuth.live.keras.on_torch import OnTorch

        return OnTorch
    raise NotImplementedError(f"Keras on {backend} is not watched; the torch and jax backends are")


def _print(found: Report) -> None:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(report.render(found, "terminal", colour=colour))
