"""Did Sleuth see the training? What it did not look at, it says it did not look at."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sleuth.live.watch import Watch

_FRAMEWORKS = ("torch", "jax", "tensorflow", "keras")


@dataclass(frozen=True, slots=True)
class Watched:
    """How many optimiser steps were seen in all processes, and why no more, or none, where that needs saying."""

    steps: int
    why: str | None = None


def watched(watch: Watch, steps: int, elsewhere: str | None = None) -> Watched:
    """`elsewhere` is what there is to say of the processes that the program started."""
    if watch.errors:
        return Watched(steps, "then the watch ended by an error of its own")
    if steps:
        return Watched(steps, None if watch.saw_losses else "their losses were not: no backward pass was heard")
    return Watched(steps, _why_none(watch, elsewhere))


def nothing_found(watch: Watch, how: str) -> str:
    """One line for a watch that saw training and found nothing; `how` it was cut short, where it was."""
    seen = watched(watch, watch.steps)
    steps = "1 step" if seen.steps == 1 else f"{seen.steps:,} steps"
    return f"nothing found in {steps}" + (f"; {seen.why}" if seen.why else "") + (f", {how}" if how else "")


def _why_none(watch: Watch, elsewhere: str | None) -> str:
    imported = [name for name in _FRAMEWORKS if name in sys.modules]
    if watch.reasons:
        return "; ".join(watch.reasons)
    if "torch" in imported and not watch.hears_torch:
        return "torch was imported in a way that Sleuth did not notice"
    if watch.lost_taps:
        return f"the program replaced {', '.join(watch.lost_taps)}, where Sleuth listens"
    if watch.backwards:
        passes = "1 backward pass" if watch.backwards == 1 else f"{watch.backwards:,} backward passes"
        return f"{passes}, but no optimiser's step"
    if watch.gradients_taken:
        return "gradients were taken by torch.autograd.grad or torch.func alone, and the weights changed by hand"
    if "tensorflow" in imported and "torch" not in imported and "jax" not in imported:
        return "TensorFlow is not watched yet"
    if elsewhere is not None:
        return elsewhere
    if not imported:
        return "the program imported neither torch nor JAX"
    return "no backward pass and no optimiser's step"
