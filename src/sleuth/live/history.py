"""What the last steps looked like: loss and gradient norm, so that growth can be told from a sudden death."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

KEPT = 64
SHOWN = 6
# A training that merely wobbles moves its gradient norm by a factor of a few; an explosion multiplies it step by step
# until float32 (3e38) ends it. Four orders of magnitude within the window tell the two apart, with room on both sides.
EXPLOSION = 1e4
# A gradient this large in a single step moves any weight out of every useful range at any learning rate in use.
HUGE_GRADIENT = 1e8


@dataclass(slots=True)
class History:
    """The last steps, oldest first."""

    losses: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=KEPT))
    gradient_norms: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=KEPT))

    def growth(self) -> float:
        """How many times the gradient norm or the loss has multiplied from its lowest to its latest finite value."""
        return max(_growth(self.gradient_norms), _growth(self.losses))

    @property
    def exploding(self) -> bool:
        last = self.gradient_norms[-1][1] if self.gradient_norms else 0.0
        return self.growth() >= EXPLOSION or last >= HUGE_GRADIENT

    def last_losses(self) -> tuple[float, ...]:
        return tuple(value for _, value in list(self.losses)[-SHOWN:])

    def last_gradient_norms(self) -> tuple[float, ...]:
        return tuple(value for _, value in list(self.gradient_norms)[-SHOWN:])


def _growth(series: deque[tuple[int, float]]) -> float:
    values = [abs(value) for _, value in series if math.isfinite(value) and value != 0]
    return values[-1] / min(values) if len(values) > 1 else 1.0
