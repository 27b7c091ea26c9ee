"""torch-audit: its "zero-touch" `autopatch(model, ...)` with every step audited and static and initial checks on, and
its wrappers `auditor.backward` and `auditor.optimizer_step` for the two other phases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from types import MethodType, SimpleNamespace
from typing import Any

from messages import Message
from torch import nn, optim

from adapters import Monitor as Base

LEVELS = {"INFO": "note", "WARN": "warning", "ERROR": "error", "FATAL": "error"}


class Monitor(Base):
    def __init__(self, model: nn.Module, optimizer: optim.Optimizer | None) -> None:
        autopatch = import_module("torch_audit").autopatch
        self.auditor: Any = autopatch(model, optimizer=optimizer, every_n_steps=1, patch_optimizer=False)
        self.seen: dict[str, Any] = {}
        if optimizer is not None:
            self.add_optimizer(optimizer)

    def add_optimizer(self, optimizer: optim.Optimizer) -> None:
        plain = optimizer.step
        inside, loss = False, None

        def step(self_: optim.Optimizer, *arguments: Any, **options: Any) -> Any:
            nonlocal inside, loss
            if inside:
                loss = plain(*arguments, **options)
                return loss
            inside = True
            try:
                self.auditor.optimizer_step(self_, *arguments, **options)  # which does not hand the loss on
                return loss
            finally:
                inside = False

        # A bound method, since a scheduler made later looks for `optimizer.step.__func__`.
        optimizer.step = MethodType(step, optimizer)  # type: ignore[method-assign]

    def backward(self, call: Callable[[], None]) -> None:
        self.auditor.backward(SimpleNamespace(backward=call))

    def step(self, loss: float | None, rate: float | None, gradient_norm: float | None) -> None:
        for finding in self.auditor.pop_new_findings():
            self.seen.setdefault(finding.get_fingerprint(), finding)
        self.auditor.runner.findings.clear()  # it keeps every finding of every step
        self.auditor.pop_new_findings()

    def finish(self, complete: bool) -> Iterator[Message]:
        self.step(None, None, None)
        rules = self.auditor.finish().rules
        self.auditor.unpatch()
        for finding in self.seen.values():
            rule = rules[finding.rule_id]
            where = finding.module_path or ""
            yield Message(
                LEVELS[finding.severity.value],
                f"{rule.id} {rule.title}",
                f"{where} {finding.entity or ''}: {finding.message}\n{rule.description}",
                rule.remediation,
                hint=rule.category == "Performance",
            )
