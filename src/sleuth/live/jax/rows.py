"""Rows of numbers outside of any trace: made, read, and looked for again among calls that were kept."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import differentiated, stepping
from sleuth.live.jax.sights import Sight
from sleuth.live.jax.stepping import DISTANCE, FIRST_NORM, LOSS
from sleuth.live.jax.variants import Variant


def is_finite(numbers: list[float], has_loss: bool) -> bool:
    return math.isfinite(sum(numbers[FIRST_NORM:])) and (not has_loss or math.isfinite(numbers[LOSS]))


def loss_in(told: Any) -> float:
    """The loss, told by itself or in a row."""
    return float((told[LOSS] if told.ndim and told.size > LOSS else told.reshape(-1)[0]).real)


def rounds(loop: Sight) -> tuple[dict[int, Any], dict[bytes, Any]]:
    """The rows of a loop by the number of their round, and what was sent of them by their bytes."""
    if loop.row is None:
        return {}, {}
    rows = np.array(loop.row)
    numbers = np.ravel_multi_index(tuple(np.indices(rows.shape[:-1])), loop.lengths).reshape(-1).tolist()
    jax.effects_barrier()
    sent: dict[bytes, Any] = {}
    for told, moving in loop.sent or ():
        sent.setdefault(np.asarray(told).tobytes(), moving)
    if loop.sent is not None:
        loop.sent.clear()
    return dict(zip(numbers, rows.reshape(-1, rows.shape[-1]), strict=True)), sent


def inputs_sent(loop: Sight, row: Any, sent: dict[bytes, Any]) -> list[Any] | None:
    """What a round's loss was computed from, where that was sent."""
    moving = sent.get(row.tobytes())
    return loop.variant.inputs(moving) if loop.variant is not None and moving is not None else None


def found_among(sight: Sight, row: Any) -> list[Any] | None:
    """What a bad step sent on its way, where it holds too much to come with every step."""
    if sight.variant is None or sight.sent is None:
        return None
    jax.effects_barrier()
    for sent, moving in sight.sent:
        if np.array_equal(sent[LOSS:], row[LOSS:], equal_nan=True):
            return sight.variant.inputs(moving)
    return None


def row_of(loss: Any, given: Any, fresh: Any, rate: Any = None) -> Any:
    """The row of a step outside of any trace, computed as one."""
    return _compiled_row()(0, loss, given, fresh, (), rate)


@functools.cache
def _compiled_row() -> Any:
    return differentiated.original("jit")(stepping.row)


@functools.cache
def _compiled_distance() -> Any:
    return differentiated.original("jit")(lambda a, b: stepping.row(0, None, a, b)[DISTANCE])


def distance(given: Sequence[Any], fresh: Sequence[Any]) -> Any:
    """Between gradients that were given to an optimiser and those that were taken."""
    if all(a is b for a, b in zip(given, fresh, strict=True)):
        return 0.0
    if any(isinstance(one, jax.Array) and one.is_deleted() for one in (*given, *fresh)):
        return math.nan
    return _compiled_distance()(list(given), list(fresh))


@dataclass(frozen=True, slots=True)
class Bad:
    """A step whose numbers are not finite; what its loss was computed from, where that is known."""

    step: int
    numbers: list[float]
    has_loss: bool
    variant: Variant | None
    inputs: list[Any] | None


def first_bad(seen: Sight, step: int) -> Bad | None:
    """The first bad step up to the one that was seen to be bad, whose number is given: what was kept is done again."""
    found = seen.kept.first_bad(seen.kept_for or seen.listener, seen.kept_as) if seen.kept is not None else None
    if found is None:
        return None
    number, sight = found
    step += sight.earlier_in_call - seen.earlier_in_call - (seen.kept_as - number) * seen.steps_of_call
    if not sight.many:
        row = np.array(sight.row)
        inputs = sight.inputs() or found_among(sight, row)
    else:
        told, sent = rounds(sight)
        i, row = next((i, row) for i, row in told.items() if not stepping.all_finite(row, sight.has_loss))
        step, inputs = step + i, inputs_sent(sight, row, sent)
    return Bad(max(step, 0), row.tolist(), sight.has_loss, sight.variant, inputs)
