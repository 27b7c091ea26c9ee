"""The rounds of the training loop: what the present one started from, so that it can be run again."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any

from sleuth.live.batches import Batch, Dealer, Dealt
from sleuth.live.loss_lines import LossLines
from sleuth.live.rewind import Site, lines_now, share_a_round, site
from sleuth.live.snapshot import Buffers, RandomState, RandomStates
from sleuth.program import line_of, users_frame

# A batch that could not be fetched is not there to be kept.
_FETCHING = os.path.join("torch", "utils", "data", "")
# The variables of a loop are all there after its first rounds.
FIRST_LOOKS = 2


class Rounds:
    """Random generators, changing buffers, batches and the place of the backward call, kept for one round or two."""

    def __init__(self) -> None:
        self.states = RandomStates()
        self.buffers = Buffers()
        self.dealer = Dealer()
        self.loss_lines = LossLines()
        self.backward: Site = Site(())
        self._random: RandomState | None = None
        self._after_step: tuple[RandomState, tuple[int, ...]] | None = None
        self._deals = 0
        self._steps_since_deal: dict[int, int] = {}
        self._deals_since_step: dict[int, int] = {}
        self._backward_from: tuple[int, int] | None = None
        self._looks = 0

    def look_around(self) -> None:
        self.buffers.add_existing()
        self._random = self.states.take()

    def optimizer_made(self, optimizer: Any, frame: FrameType) -> None:
        self._deals_since_step[id(optimizer)] = 0
        self.states.find_generators(frame)
        self._random = self.states.take()

    def dealt(self, iterator: Any, content: Any, frame: FrameType) -> None:
        dealt = self.dealer.last = self.dealer.of(iterator)
        self._deals += 1
        dealt.tick_before, dealt.tick = dealt.tick, self._deals
        self._random = self.states.take()
        self.buffers.take()
        indices = dealt.indices.popleft() if dealt.indices else None
        batch = Batch(content, indices, dealt.count, self._random, users_line(frame))
        dealt.count += 1
        if not dealt.usual:
            dealt.usual = len(indices) if isinstance(indices, list) else 0
        if indices is None or (isinstance(indices, list) and indices[:1] == [None]):
            # An IterableDataset: its samples have no index but their place in the stream.
            _, first = next(batch.tensors(), ("", None))
            batch.samples_before = dealt.samples if dealt.in_order else None
            dealt.samples += len(first) if first is not None and first.dim() else 1
        dealt.recent.append(batch)
        self._steps_since_deal.clear()
        for optimizer in self._deals_since_step:
            self._deals_since_step[optimizer] += 1

    def backward_called(self, frame: FrameType) -> None:
        """Remember where from. In a steady loop it is the same frame and instruction every time."""
        users = users_frame(frame)
        here = (id(users), users.f_lasti) if users is not None else None
        if here != self._backward_from:
            self._backward_from = here
            self.backward = site()
        if self._looks < FIRST_LOOKS:
            self._looks += 1
            newest = self.dealer.newest()
            if newest is not None and newest.count > self._looks:
                self.dealer.keeps = 2
            self.states.find_generators(users)

    def step_ended(self, optimizer: Any, several_optimizers: bool) -> None:
        which = id(optimizer)
        self.buffers.settle()
        steps = self._steps_since_deal[which] = self._steps_since_deal.get(which, 0) + 1
        self._deals_since_step[which] = 0
        if self._deals:
            self.dealer.forget()
        if not self._deals or steps > 1:
            self.begins(several_optimizers)

    def begins(self, several_optimizers: bool = False) -> None:
        """A loop without a loader: what the next round starts from is what the last step left behind. With several
        optimisers, a round goes on as long as their steps come from further and further down the program."""
        if several_optimizers:
            lines = lines_now()
            if self._after_step is not None and lines <= self._after_step[1]:
                self._random = self._after_step[0]
            self._after_step = (self.states.take(), lines)
        else:
            self._random = self.states.take()
        self.buffers.take()

    @property
    def site(self) -> Site:
        """The backward call, with the line of its loss where that says more."""
        line = self.backward.line
        return replace(self.backward, loss=self.loss_lines.computed(line)) if line is not None else self.backward

    def random_at_start(self) -> RandomState | None:
        if self._after_step is not None and self.backward.lines <= self._after_step[1]:
            return self._after_step[0]
        return self._random

    def holds(self, error: BaseException) -> bool:
        """Was the exception raised in a training round, after its batch was there?"""
        newest = self.dealer.newest()
        at = newest.recent[-1].dealt_at if newest is not None and not newest.ended else self.backward.line
        if at is None:
            return False
        code, line = at[0], line_of(*at)
        frames = list(traceback.walk_tb(error.__traceback__))
        if any(_FETCHING in frame.f_code.co_filename for frame, _ in frames):
            return False
        return any(
            frame.f_code is code and (here == line or share_a_round(frame, here, line)) for frame, here in frames
        )

    def batches_of_step(self, optimizer: Any) -> int:
        """How many batches the step under way has used so far: more than one while gradients accumulate."""
        return max(1, self._deals_since_step.get(id(optimizer), 1))

    def loaders(self, optimizer: Any) -> list[Dealt]:
        """The iterators that drive the loop: none where the same batch is used for step after step."""
        own = self._steps_since_deal.get(id(optimizer), 0) if optimizer is not None else 0
        if own > 0 or max(self._steps_since_deal.values(), default=0) > 1:
            return []
        return self.dealer.current()


def users_line(frame: FrameType) -> tuple[CodeType, int] | None:
    """The code and instruction of the user's innermost frame."""
    users = users_frame(frame)
    return None if users is None else (users.f_code, users.f_lasti)
