"""When a loop of the program has shown what it does: everything beyond is more of the same."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# Gradients may be gathered over many batches before a step; models may be asked many times for one answer.
_BACKWARD_ROUNDS, _FORWARD_ROUNDS = 16, 32
# A batch that is only evaluated shows what all the others would.
_EVALUATED_BATCHES = 2
# A loop that only looks at batches, or reads files: until it gets long, in CPU seconds.
_PATIENCE = 4.0


class Pace:
    """Counts the rounds of one loop in which the program trained."""

    def __init__(self, stage: Stage, of_batches: bool = False) -> None:
        self.stage = stage
        self.rounds = self.steps = self.backwards = self.forwards = self.evaluations = 0
        # One of a DataLoader's own: each round is a batch.
        self._of_batches = of_batches
        self._began = time.process_time()
        self._seen = dict(stage.acts)
        # One batch each round: a DataLoader is behind it, which knows itself when it is enough, and which is the last.
        self.dealt_by_a_loader = False

    def round_done(self) -> None:
        now, before = self.stage.acts, self._seen
        self.rounds += 1
        self.steps += now["step"] > before.get("step", 0)
        self.backwards += now["backward"] > before.get("backward", 0)
        forwards = now["forward"] - before.get("forward", 0)
        self.forwards += forwards > 0
        self.evaluations += forwards > 0 and now["evaluation"] - before.get("evaluation", 0) == forwards
        by_hand = now["batch by hand"] - before.get("batch by hand", 0)
        self.dealt_by_a_loader = now["batch"] - before.get("batch", 0) == 1 and not by_hand
        self._seen = dict(now)

    @property
    def late(self) -> bool:
        return time.process_time() - self._began > _PATIENCE

    def enough(self) -> bool:
        few = self.stage.scenario.rounds
        return (
            self.steps >= few
            or self.backwards >= few * _BACKWARD_ROUNDS
            or self.forwards >= few * _FORWARD_ROUNDS
            or (self._of_batches and self.evaluations >= few * _EVALUATED_BATCHES)
            or (self.late and self.rounds >= few)
        )


def length(iterable: Any) -> int | None:
    """How much there is of it, where it tells: a DataLoader of an endless data set has a length and does not."""
    try:
        return len(iterable)
    except TypeError:
        return None
