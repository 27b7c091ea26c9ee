"""training-doctor: `doctor.log(step, loss=..., lr=..., grad_norm=...)` in the loop, `doctor.log(step, eval_loss=...)`
after an evaluation. Its README takes the gradient norm from `clip_grad_norm_`; here nothing is clipped."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from messages import Message
from torch import nn, optim

from adapters import Monitor as Base

LEVELS = {"info": "note", "warning": "warning", "critical": "error"}


class Monitor(Base):
    wants_gradient_norm = True

    def __init__(self, model: nn.Module, optimizer: optim.Optimizer | None) -> None:
        self.doctor: Any = import_module("training_doctor").Doctor()
        self.number = 0

    def step(self, loss: float | None, rate: float | None, gradient_norm: float | None) -> None:
        metrics = {"loss": loss, "lr": rate, "grad_norm": gradient_norm}
        self.doctor.log(self.number, **{name: value for name, value in metrics.items() if value is not None})
        self.number += 1

    def evaluated(self, loss: float) -> None:
        self.doctor.log(self.number, eval_loss=loss)

    def finish(self, complete: bool) -> Iterator[Message]:
        for diagnosis in self.doctor.diagnoses:
            evidence = "; ".join(map(str, diagnosis.evidence))
            yield Message(
                LEVELS[diagnosis.severity.value],
                diagnosis.problem,
                f"{diagnosis.explanation}\n{evidence}",
                "\n".join(diagnosis.suggestions),
            )
