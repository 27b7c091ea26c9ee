"""The optimisers of the program, and which parameters each of them holds."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

from sleuth.live import sentinel
from sleuth.live.learning import wiring
from sleuth.live.learning.making import Making
from sleuth.live.signals import OptimizerSignals, Run

_MOST = 256


@dataclass(eq=False)
class Held:
    """An optimiser of the program."""

    optimizer: Any
    signals: OptimizerSignals
    number: int
    order: int
    ids: set[int] = field(default_factory=set)
    # It has the loss evaluated several times a step.
    evaluates_often: bool = False


class Holding:
    """Every optimiser that was made or has stepped."""

    def __init__(self, run: Run, making: Making) -> None:
        self._run = run
        self._making = making
        self._all: dict[int, Held] = {}
        # Weights were put back since the last step: an optimiser made now begins another training.
        self.another_training = False

    def __len__(self) -> int:
        return len(self._all)

    def get(self, key: int) -> Held | None:
        """By the identity of the optimiser."""
        return self._all.get(key)

    def of(self, optimizer: Any) -> Held:
        held = self._all.get(id(optimizer))
        if held is not None and held.optimizer() is optimizer:
            return held
        parameters = sentinel.parameters_of(optimizer)
        signals = OptimizerSignals(
            kind=type(optimizer).__name__,
            made=self._making.place_of_optimizer(optimizer, wiring.rate(optimizer)),
            stateful=wiring.is_stateful(optimizer),
            settings=wiring.settings(optimizer),
            parameters=len(parameters),
            frozen=sum(not p.requires_grad for p in parameters),
        )
        held = Held(weakref.ref(optimizer), signals, len(self._run.optimizers), self._making.order(optimizer))
        held.ids = {id(p) for p in parameters}
        self._note_rebuilt(held)
        self._all[id(optimizer)] = held
        if len(self._run.optimizers) < _MOST:
            self._run.optimizers.append(signals)
        if any(not group["params"] for group in optimizer.param_groups):
            self._run.facts.note("empty parameter group", self._run.step, signals.made)
        return held

    def _note_rebuilt(self, new: Held) -> None:
        for old in self._all.values():
            same_line = old.signals.made is not None and old.signals.made == new.signals.made
            if same_line and old.ids == new.ids and old.signals.steps and not self.another_training:
                fact = self._run.facts.note("optimizer rebuilt", self._run.step, new.signals.made)
                fact.numbers["kind"] = new.signals.kind
                fact.numbers["stateful"] = new.signals.stateful
                longest = max(old.signals.steps, fact.numbers.get("steps_between", 0))
                fact.numbers["steps_between"] = longest
                old.signals.steps = 0
                break

    def in_use(self) -> list[Any]:
        """The optimisers themselves, in the order they were made."""
        return [optimizer for held in self._all.values() if (optimizer := held.optimizer()) is not None]

    def parameters(self) -> set[int]:
        """Those that some optimiser in use holds, by identity."""
        return {key for held in self._all.values() if held.optimizer() is not None for key in held.ids}

    def has_stepped(self, parameter: Any) -> bool:
        """Has an optimiser that holds this parameter made a step?"""
        return any(id(parameter) in held.ids and held.signals.steps for held in self._all.values())

    def has_gradient(self) -> bool:
        """Has any parameter of an optimiser in use got a gradient?"""
        return any(p.grad is not None for one in self.in_use() for p in sentinel.parameters_of(one))

    def count(self) -> int:
        """How many parameters are held in all."""
        return sum(len(held.ids) for held in self._all.values())
