"""The batches a DataLoader has dealt: remembered for a step or two, with their indices, so one can be dealt again."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from torch import Tensor

from sleuth.live.snapshot import RandomState

# While gradients accumulate, all batches of the step are kept, up to a number that bounds the memory.
KEPT_WITHIN_A_STEP = 16


@dataclass(eq=False, slots=True)
class Batch:
    """One batch as the loader dealt it."""

    content: Any
    indices: Any
    number: int
    random: RandomState
    dealt_at: tuple[CodeType, int] | None
    samples_before: int | None = None

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Every tensor in the batch with the way to it, e.g. `[0]` or `["labels"]`."""
        return named_tensors(self.content)


def named_tensors(value: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from named_tensors(item, f"{name}[{key!r}]")
    elif isinstance(value, list | tuple):
        fields = getattr(value, "_fields", None)
        for index, item in enumerate(value):
            yield from named_tensors(item, f"{name}.{fields[index]}" if fields else f"{name}[{index}]")
    elif hasattr(value, "__dict__") and not callable(value):
        for key, item in vars(value).items():
            if isinstance(item, Tensor):
                yield f"{name}.{key}", item


@dataclass(eq=False)
class Dealt:
    """What one DataLoader iterator has dealt of late."""

    dataset: Any
    indices: deque[Any] = field(default_factory=deque)
    recent: deque[Batch] = field(default_factory=lambda: deque(maxlen=KEPT_WITHIN_A_STEP))
    again: deque[Batch] = field(default_factory=deque)
    count: int = 0
    # How many samples its first batch had.
    usual: int = 0
    samples: int = 0
    in_order: bool = False
    ended: bool = False
    tick: int = 0
    tick_before: int = 0

    def to_replay(self, window: int) -> list[Batch]:
        """The batches to deal again: those of the step in their order, or the failing one and the one before it."""
        recent = list(self.recent)
        return recent[-window:] if window > 1 else recent[-2:][::-1]

    def forget(self, all_but: int) -> None:
        while len(self.recent) > all_but:
            self.recent.popleft()


class Dealer:
    """Remembers what every DataLoader iterator dealt. The memory hangs on the iterator and goes with it."""

    def __init__(self) -> None:
        # Across steps only the batch in use is kept, which the loop holds anyway. A loader that fetches ahead of the
        # loop (accelerate's) and a sentinel that reads a step late need the one before it, too.
        self.keeps = 1
        # Held until another deals or this one ends: an exception frees the loop's iterator before anybody hears of it.
        self.last: Dealt | None = None
        # What is to be dealt again, by data set: by the next iterator over it where the present one is given up. A loop
        # that counts its batches (a trainer's) does that when a loader that fetches ahead is near its end.
        self._left_over: dict[int, list[Batch]] = {}
        self._all: list[weakref.ref[Dealt]] = []

    def of(self, iterator: Any) -> Dealt:
        dealt: Dealt | None = iterator.__dict__.get("_sleuth_dealt")
        if dealt is None:
            dealt = Dealt(getattr(iterator, "_dataset", None))
            dealt.in_order = getattr(iterator, "_num_workers", 1) == 0
            iterator.__dict__["_sleuth_dealt"] = dealt
            dealt.again.extend(self._left_over.pop(id(dealt.dataset), ()))
            self._all = [reference for reference in self._all if reference() is not None]
            self._all.append(weakref.ref(dealt))
        return dealt

    def _alive(self) -> list[Dealt]:
        return [dealt for reference in self._all if (dealt := reference()) is not None and dealt.recent]

    def current(self) -> list[Dealt]:
        """The iterator that dealt last, and those that dealt beside it since its batch before (as `zip` makes them)."""
        newest = self.newest()
        if newest is None or newest.ended:
            return []
        return [dealt for dealt in self._alive() if not dealt.ended and dealt.tick > newest.tick_before]

    def deal_again(self, loaders: list[Dealt], window: int) -> None:
        for dealt in loaders:
            batches = dealt.to_replay(window)
            dealt.again = deque(batches)
            self._left_over[id(dealt.dataset)] = batches

    def enough(self) -> None:
        """Nothing is to be dealt again any more."""
        self._left_over.clear()

    def newest(self) -> Dealt | None:
        return max(self._alive(), key=lambda dealt: dealt.tick, default=None)

    def forget(self) -> None:
        """A step is done: only the last batches are still of interest."""
        for reference in self._all:
            dealt = reference()
            if dealt is not None:
                dealt.forget(all_but=self.keeps)
