"""One expectation of a run: what is claimed, where it was said, when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sleuth.findings import Finding, Place
from sleuth.live.expectations import board
from sleuth.live.expectations.claims import Claim, Holds
from sleuth.live.expectations.sentence import CannotExpect, read


class Expectation:
    """From when it is made, the watch that is on checks it; where none is, the next one."""

    def __init__(
        self,
        says: str,
        claim: Claim,
        *,
        every: int | None = None,
        warmup: int = 0,
        place: Place | None = None,
        batch: Any = None,
        model: Any = None,
        stop: bool = False,
    ) -> None:
        self.says = says
        self.claim = claim
        self.every = every
        self.warmup = warmup
        self.place = place
        self.batch = batch
        self.model = model
        self.stop = stop
        self.finding: Finding | None = None
        # Has anything of the kind it speaks of been measured? Not every framework tells everything.
        self.measured = False
        board.say(self)

    def is_due(self, step: int, usual: int = 1) -> bool:
        return step >= self.warmup and (step - self.warmup) % (self.every or usual) == 0

    def take_back(self) -> None:
        board.unsay(self)


def said(
    says: str,
    place: Place | None = None,
    *,
    holds: Callable[[Mapping[str, float]], bool] | None = None,
    every: int | None = None,
    warmup: int | None = None,
    tolerance: float | None = None,
    batch: Any = None,
    model: Any = None,
    stop: bool = False,
) -> Expectation:
    """One sentence, said at this place; at none on a command line."""
    claim: Claim
    if holds is not None:
        claim = Holds(holds)
    else:
        reading = read(says, tolerance)
        claim = reading.claim
        every = every if every is not None else reading.every
        warmup = warmup if warmup is not None else reading.warmup
    if every is not None and every < 1:
        raise CannotExpect(f"every must be at least 1 step, not {every}")
    if claim.subject.value == "accuracy on this batch" and (batch is None or model is None):
        raise CannotExpect(
            '"accuracy on this batch" needs to know them: expect(..., batch=(inputs, labels), model=model)'
        )
    return Expectation(says, claim, every=every, warmup=warmup or 0, place=place, batch=batch, model=model, stop=stop)
