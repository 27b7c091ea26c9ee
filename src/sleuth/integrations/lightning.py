"""`Trainer(callbacks=[SleuthCallback()])`: training with Lightning, watched, under either of its two names."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sleuth.findings import Finding
from sleuth.integrations.session import Session
from sleuth.live import EXPERIMENTS

if TYPE_CHECKING:
    Callback = Any
elif "pytorch_lightning" in sys.modules and "lightning" not in sys.modules:
    from pytorch_lightning import Callback
else:
    try:
        from lightning.pytorch import Callback
    except ModuleNotFoundError:
        from pytorch_lightning import Callback


class SleuthCallback(Callback):  # type: ignore[misc]
    """Watches `fit` and prints a report on standard error when it ends. A number that is not finite stops the training
    before it spoils the weights, unless `keep_going` is set. Make it before the model, to have all lines known."""

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

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit":
            self._session.begin()

    def on_train_batch_end(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        if self._session.should_stop:
            trainer.should_stop = True

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._session.end(exception)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit":
            self._session.end()
