"""NeuralDBG: `with NeuralDbg(model) as dbg`, `dbg.step = step` and `dbg.record_loss(loss.item())` in the loop; after it
`explain_failure` for each of its documented failure types, and the first layer of each failure it noted.

Its reasoning proper is in neuraldbg-engine, which is not on the index. Without that, `explain_failure` answers only for
the types whose name is an event's, and gives no cause: so the notes of first failures are taken as messages too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from messages import Message
from torch import nn, optim

from adapters import Monitor as Base

FAILURES = [
    "vanishing_gradients",
    "exploding_gradients",
    "dead_neurons",
    "saturated_activations",
    "optimizer_instability",
    "data_anomaly",
]
RECOVERED = ("healthy", "normal", "stable")


class Monitor(Base):
    def __init__(self, model: nn.Module, optimizer: optim.Optimizer | None) -> None:
        self.debugger: Any = import_module("neuraldbg").NeuralDbg(model)
        self.debugger.__enter__()
        # It calls a layer by its class, too: that a Softmax is there says nothing of what is wrong with it.
        names = {f"{type(part).__name__}_{name}": name for name, part in model.named_modules() if name}
        self.plain = {re.compile(rf"\b{re.escape(long)}(?![\w.])"): short for long, short in names.items()}

    def step(self, loss: float | None, rate: float | None, gradient_norm: float | None) -> None:
        if loss is not None:
            self.debugger.record_loss(loss)
        self.debugger.step += 1

    def finish(self, complete: bool) -> Iterator[Message]:
        for message in self.said():
            title = message.title
            for long, short in self.plain.items():
                title = long.sub(f"layer {short}", title)
            yield replace(message, title=title)

    def said(self) -> Iterator[Message]:
        self.debugger.__exit__(None, None, None)
        for failure in FAILURES:
            for hypothesis in self.debugger.explain_failure(failure):
                changes = ", ".join(f"{event.from_state} to {event.to_state}" for event in hypothesis.evidence)
                recovered = all(event.to_state in RECOVERED for event in hypothesis.evidence)
                yield Message("note" if recovered else "warning", f"{hypothesis.description}: {changes}")
        for hypothesis in self.debugger.get_causal_hypotheses():
            yield Message("warning", hypothesis.description)
        for failure, layer in self.debugger.first_failure_layer.items():
            yield Message("warning", f"{failure} first in {layer}")
