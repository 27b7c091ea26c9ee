"""Getting the failing step to run once more, under a trace: the same batch, random numbers and buffers, no update."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from sleuth.findings import Place
from sleuth.live.batches import Dealer, Dealt, named_tensors
from sleuth.live.graph import Suspect
from sleuth.live.numbers import is_finite
from sleuth.live.rewind import Site, may_leave, rewind
from sleuth.live.sentinel import bad_parameters
from sleuth.live.snapshot import Buffers, RandomState
from sleuth.live.trace import Op, Trace

# How many steps may pass without the trouble showing again before it is called not reproducible. Three, because a
# loader that fetches ahead (accelerate's) deals the failing batch two steps late.
ATTEMPTS = 3

Way = Literal["loader", "loop", "closure", "next step"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What was seen to go wrong, and where the program stood."""

    symptom: Literal["loss", "gradient", "scale", "crash"]
    step: int
    value: float
    backward: Site
    optimizer: Any = None
    window: int = 1

    @property
    def place(self) -> Place | None:
        return self.backward.place


class Replay:
    """One attempt to see the trouble again. `way` says how the step is repeated."""

    def __init__(
        self,
        trouble: Trouble,
        random: RandomState | None,
        buffers: Buffers,
        on_birth: Any,
        parameters: Callable[[], list[Tensor]],
    ) -> None:
        self.trouble = trouble
        self.trace = Trace(on_birth)
        self.way: Way = "next step"
        self.running = False
        self.steps = 0
        self.waited = 0
        self.suspect: Suspect | None = None
        self.suspects_line: Op | None = None
        self._random = random
        self._buffers = buffers
        self._parameters = parameters
        self.ran_eagerly = False
        # Told when a frame of the program has been sent back to the top of its loop.
        self.resumed: Callable[[], object] = lambda: None

    def arrange(self, loaders: list[Dealt], dealer: Dealer, together: bool = False) -> None:
        """Choose how to repeat the step: deal the batch again, or run the loop's body again at once, or wait. Ranks
        that repeat it `together` must choose alike, so the values of one of them are no reason."""
        newest, backward = dealer.newest(), self.trouble.backward
        dealt_at = newest.recent[-1].dealt_at if newest is not None else None
        at_once = not loaders or (self.trouble.window == 1 and may_leave(backward, dealt_at))
        if at_once and rewind(backward, self._rewound, _anything if together else _finite, dealt_at):
            self.way = "loop"
            return
        if not loaders and newest is not None and newest.ended:
            loaders = [newest]
        if loaders:
            self.way = "loader"
            dealer.deal_again(loaders, self.trouble.window)

    def _rewound(self) -> None:
        self.start()
        self.resumed()

    def start(self, random: RandomState | None = None) -> None:
        """Put back what the step started from, and write down everything from here on."""
        state = random or self._random
        if state is not None:
            state.restore()
        if self.running:
            return
        self.running = True
        self._buffers.restore()
        for parameter in bad_parameters(self._parameters()):
            # What the failing step left behind must not be taken for what the replay gives.
            assert parameter.grad is not None
            parameter.grad = torch.zeros_like(parameter.grad)
        if has_compiled():
            torch.compiler.set_stance("force_eager")
            self.ran_eagerly = True
        self.trace.enter()

    def stop(self) -> None:
        """Stop writing down. A mode of the program's own that lies above ours is left alone."""
        if not self.running:
            return
        self.running = False
        self.trace.leave()
        if self.ran_eagerly:
            torch.compiler.set_stance("default")

    @property
    def exhausted(self) -> bool:
        return self.steps >= ATTEMPTS


def _finite(value: Any) -> bool:
    return all(is_finite(tensor) for _, tensor in named_tensors(value))


def _anything(value: Any) -> bool:
    return True


def has_compiled() -> bool:
    """Has the program compiled anything with torch.compile so far?"""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo is not None and bool(dynamo.counters["frames"])


class HeldBack:
    """Gradients taken away from an optimiser for one step: it then changes neither weights nor its own state."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self._held = [(parameter, parameter.grad) for parameter in parameters if parameter.grad is not None]
        for parameter, _ in self._held:
            parameter.grad = None

    def give_back(self) -> None:
        """Zeroed: a loop that accumulates must not find the NaN again, one that reads the gradients must find some."""
        for parameter, gradient in self._held:
            if parameter.grad is None and gradient is not None:
                parameter.grad = gradient.detach().zero_() if gradient.layout == torch.strided else None
