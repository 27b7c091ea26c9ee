"""torchmortem: `with Autopsy(model, optimizer=optimizer) as autopsy`, `autopsy.step(loss=loss.item())` in the loop, and
the findings and insights of its report after it. Sampling is "thorough", its most watchful setting."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from messages import Message
from torch import nn, optim

from adapters import Monitor as Base

LEVELS = {"INFO": "note", "WARNING": "warning", "CRITICAL": "error"}


class Monitor(Base):
    def __init__(self, model: nn.Module, optimizer: optim.Optimizer | None) -> None:
        self.autopsy: Any = import_module("torchmortem").Autopsy(model, optimizer=optimizer, sampling="thorough")
        self.autopsy.attach()

    def step(self, loss: float | None, rate: float | None, gradient_norm: float | None) -> None:
        self.autopsy.step(**({} if loss is None else {"loss": loss}))

    def finish(self, complete: bool) -> Iterator[Message]:
        self.autopsy.detach(is_complete=complete)
        report = self.autopsy.get_report()
        for finding in report.findings:
            yield Message(
                LEVELS[finding.severity.name],
                finding.title,
                f"{finding.summary}\n{finding.detail}",
                "\n".join(finding.remediation),
            )
        for insight in report.insights:
            yield Message(
                "warning", insight.title, f"{insight.summary}\n{insight.detail}", "\n".join(insight.remediation)
            )
