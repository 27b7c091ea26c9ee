"""What a watch can say of the moment at which the program failed. Knows no framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from sleuth.findings import Link, Place

# Is this number not one of those that are allowed?
Outside = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch of the step that failed: how many samples it has, how many a batch of this loader usually has, their
    indices in the data set where they have any, and which of its rows are these samples by a look at them."""

    size: int
    usual: int
    indices: tuple[int, ...]
    confirmed: Callable[[Sequence[int], Outside], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class AtHand:
    """`step` is None before any training. `made` knows the line that made a thing, `history` the calls that led to a
    tensor, the oldest first, and `is_flattened` whether a flatten, view or reshape gave it its last axis."""

    step: int | None = None
    batch: Batch | None = None
    made: Callable[[Any], Place | None] = lambda thing: None
    history: Callable[[Any], list[Link]] = lambda tensor: []
    is_flattened: Callable[[Any], bool] = lambda tensor: False
    quietly: Callable[[], AbstractContextManager[object]] = nullcontext
