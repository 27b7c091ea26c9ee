"""Learning-rate schedulers: when they step, and over how many steps they mean to run."""

from __future__ import annotations

import math
import sys
from typing import Any

from sleuth.findings import Place
from sleuth.live.learning.making import Making
from sleuth.live.signals import OptimizerSignals, Run
from sleuth.program import users_place

_LISTEN = 4096
# A rate that has fallen to a hundredth no longer trains.
_GONE = 0.01


class Schedules:
    def __init__(self, run: Run, making: Making) -> None:
        self._run = run
        self._making = making
        self._count = 0
        self._last: dict[int, int] = {}

    @property
    def listening(self) -> bool:
        return self._count < _LISTEN

    def made(self, scheduler: Any) -> Place | None:
        self._making.note(scheduler)
        return self._making.place(scheduler)

    def stepped(self, scheduler: Any, optimizer: OptimizerSignals | None, scaled: bool) -> None:
        self._count += 1
        if optimizer is None:
            return
        fact = self._run.facts.note(
            "scheduler stepped",
            self._run.step,
            users_place(sys._getframe(1)),
            who=id(scheduler),
            numbers={"kind": type(scheduler).__name__, "horizon": horizon(scheduler), "scaled": scaled},
            made=self._making.place(scheduler),
        )
        fact.numbers.setdefault("before_first_step", optimizer.steps == 0)
        fact.numbers.setdefault("steps_at", []).append(optimizer.steps)
        del fact.numbers["steps_at"][64:]
        rate = _rate(scheduler)
        fact.numbers["first_rate"] = max(fact.numbers.get("first_rate", rate), rate)
        fact.numbers["rate"] = rate
        if rate < fact.numbers["first_rate"] * _GONE:
            fact.numbers.setdefault("gone_at", self._run.step)


def _rate(scheduler: Any) -> float:
    return max((float(group["lr"]) for group in scheduler.optimizer.param_groups), default=0.0)


def horizon(scheduler: Any) -> float | None:
    """After how many of its own steps this schedule has done what it was made to do: the end of its decay."""
    name = type(scheduler).__name__
    if name == "StepLR" and 0 < scheduler.gamma < 1:
        return float(scheduler.step_size) * max(1.0, math.log(_GONE) / math.log(scheduler.gamma))
    if name == "MultiStepLR" and scheduler.milestones:
        return float(max(scheduler.milestones))
    if name == "ExponentialLR" and 0 < scheduler.gamma < 1:
        return math.log(_GONE) / math.log(scheduler.gamma)
    if name == "CosineAnnealingLR":
        return float(scheduler.T_max)
    if name == "PolynomialLR":
        return float(scheduler.total_iters)
    return None
