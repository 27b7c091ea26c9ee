"""`Trainer(callbacks=[SleuthCallback()])`: training with Hugging Face's Trainer, watched."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sleuth.findings import Finding
from sleuth.integrations.session import Session
from sleuth.live import EXPERIMENTS

if TYPE_CHECKING:
    TrainerCallback = Any
else:
    from transformers import TrainerCallback


class SleuthCallback(TrainerCallback):  # type: ignore[misc]
    """Watches `train` and prints a report on standard error when it ends. A number that is not finite, which the
    Trainer keeps out of its log, stops the training before it spoils the weights, unless `keep_going` is set. Make it
    before the model, to have all lines known."""

    def __init__(
        self,
        *,
        keep_going: bool = False,
        ignore: Collection[str] = (),
        experiments: float = EXPERIMENTS,
        record: str | Path | None = None,
    ) -> None:
        self._session = Session(keep_going=keep_going, ignore=ignore, experiments=experiments, record=record)

    @property
    def findings(self) -> list[Finding]:
        """What was found in the last training."""
        return self._session.findings

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._session.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._session.should_stop:
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._session.end()
