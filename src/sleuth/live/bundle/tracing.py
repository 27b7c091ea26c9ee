"""The re-created step under a trace, for a bundle whose run could not name the operation: here it can be repeated."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Literal

from torch import Tensor

from sleuth.findings import Finding, Place
from sleuth.live import checks, diagnose
from sleuth.live.batches import Batch, Dealer
from sleuth.live.births import Birth
from sleuth.live.history import History
from sleuth.live.replay import Replay, Trouble
from sleuth.live.rewind import Site
from sleuth.live.rounds import users_line
from sleuth.live.snapshot import Buffers, RandomStates
from sleuth.live.trace import inputs_of


class Tracer:
    """Writes down one step and names what went wrong in it, as the live engine does."""

    def __init__(self, step: int) -> None:
        self._history = History()
        self._dealer = Dealer()
        self._random = RandomStates().take()
        self._replay = Replay(Trouble("loss", step, math.nan, Site(())), None, Buffers(), self._birth, list)

    def start(self) -> None:
        self._replay.start()

    def paused(self) -> AbstractContextManager[None]:
        return self._replay.trace.paused()

    def dealt(self, iterator: Any, batch: Any, samples: Any, number: int, frame: FrameType) -> None:
        """So that a bad sample is known for one."""
        dealt = self._dealer.of(iterator)
        dealt.tick_before, dealt.tick = dealt.tick, dealt.tick + 1
        dealt.recent.append(Batch(batch, samples, number, self._random, users_line(frame)))

    def finding(self, seen_in: Literal["loss", "gradient"], bad: list[Tensor], place: Place | None) -> Finding:
        self._replay.stop()
        symptom = diagnose.Symptom(seen_in, bad, place)
        return diagnose.finding(self._replay, symptom, self._history, self._dealer)

    def _birth(self, op: Any, args: Any, kwargs: Any, output: Tensor) -> None:
        inputs = [tensor for _, tensor in inputs_of(op.name, args, kwargs)[0]]
        birth = Birth(op, inputs, args, kwargs, output, self._replay.trace, self._history)
        op.notes["verdict"] = checks.verdict(birth)
