"""The numbers that a failed call was given, where there are any."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sleuth.dry.crash import Crash
from sleuth.dry.fake.hollow import is_hollow
from sleuth.dry.ours_or_yours import Attempt
from sleuth.findings import Evidence


@dataclass(frozen=True, slots=True)
class Span:
    """The smallest and the largest of a tensor's numbers; NaN where one of them is."""

    low: float
    high: float

    @property
    def has_nan(self) -> bool:
        return math.isnan(self.low)

    def evidence(self, what: str) -> list[Evidence]:
        return [Evidence(f"smallest {what}", self.low), Evidence(f"largest {what}", self.high)]

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


def span(crash: Crash, position: int) -> Span | None:
    """Of the argument at this position; None where it has no numbers."""
    from torch import Tensor

    attempt = getattr(crash.error, "__sleuth_attempt__", None)
    if not isinstance(attempt, Attempt) or position >= len(attempt.args):
        return None
    tensor = attempt.args[position]
    if not isinstance(tensor, Tensor) or not tensor.numel() or (crash.stage.fake and is_hollow(tensor)):
        return None
    return Span(float(tensor.min()), float(tensor.max()))
