"""Gradients that no optimiser is given in the same trace: the program gives them to one elsewhere, or updates its
weights by hand."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import differentiated, stepping
from sleuth.live.jax.differentiated import Differentiated
from sleuth.live.jax.recipe import names_of
from sleuth.live.jax.recorder import Recorder
from sleuth.live.jax.rows import row_of
from sleuth.live.jax.sights import Sight
from sleuth.live.jax.variants import Variants

# What is trained moves a little from step to step; what is merely differentiated (an image, say) is another each time.
_MOVES, _TIMES = 0.3, 3
# After so many gradients it is known what they are for.
_WAITING = 64


@dataclass(eq=False, slots=True)
class _Taken:
    """One gradient: its numbers as a step, should it be one, and the weights it was taken at."""

    call: Differentiated | None
    step: Sight
    weights: list[Any]


class ByHand:
    """The gradients of one line."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self.recorder: Recorder | None = None
        self._variants = Variants()
        self._names: tuple[str, ...] = ()
        self._taken: deque[_Taken] = deque(maxlen=_WAITING)
        self._moved = 0
        self._given_up = False

    # In the trace

    def sight(self, call: Differentiated) -> Sight:
        self._names = names_of(call.gradients)
        sight = Sight(self, stepping.row(0, call.value, call.gradients, None), loss=call.value)
        sight.gradients = jax.tree.leaves(call.gradients)
        if call.forward is not None:
            sight.variant, sight.moving = self._variants.of(call, call.gradients)
        return sight

    # Between the steps

    def arrived(self, sight: Sight) -> None:
        """From a compiled function."""
        if sight.many:
            self._looped(sight)
            return
        call = None
        sight.settle()
        if sight.gradients is not None:
            line = sight.variant.recipe.line if sight.variant is not None else None
            told = sight.row if sight.row is not None else sight.loss
            call = Differentiated(None, (), {}, 0, told, sight.gradients, line)  # type: ignore[arg-type]
            call.variant, call.moving = sight.variant, None if sight.moving is None else list(sight.moving)
            call.seen = sight
            differentiated.keep(call)
        weights = sight.weights()
        if weights is not None:
            self._take(_Taken(call, sight, weights))
        elif self.recorder is not None:
            self._flush(self.recorder)
            self.recorder.step(sight)

    def taken(self, call: Differentiated) -> None:
        """Outside of any trace."""
        if self._given_up or not isinstance(call.argnums, int):
            return
        self._names = names_of(call.gradients)
        weights = jax.tree.leaves(call.arguments[call.argnums])
        sight = Sight(self, row_of(call.value, call.gradients, None))
        sight.late = lambda: self._variants.of_numbers(call, call.gradients)
        self._take(_Taken(call, sight, weights))

    def _take(self, taken: _Taken) -> None:
        """A gradient is a step once the weights it was taken at have moved, and no optimiser was given it."""
        before = self._taken[-1] if self._taken else None
        if self._given_up or (before is not None and before.call is not None and before.call.used):
            self._give_up()
            return
        if before is not None and all(a is b for a, b in zip(before.weights, taken.weights, strict=False)):
            self._taken.pop()
            self._taken.append(taken)
            return
        if self.recorder is not None:
            if before is not None:
                self._taken.clear()
                self.recorder.step(before.step)
        elif before is not None:
            self._moved = self._moved + 1 if _has_moved(before.weights, taken.weights) else 0
            if self._moved >= _TIMES:
                self._begin()
            elif len(self._taken) == _WAITING:
                self._give_up()
                return
        self._taken.append(taken)

    def _begin(self) -> None:
        self.recorder = self._new(judged=True)
        self._flush(self.recorder)

    def _flush(self, recorder: Recorder) -> None:
        while self._taken:
            recorder.step(self._taken.popleft().step)

    def _looped(self, sight: Sight) -> None:
        """In a loop it may be a sampler's or a solver's as well: its numbers are told, and not judged."""
        if self.recorder is None:
            self.recorder = self._new(judged=False)
        self.recorder.arrived(sight)

    def _new(self, judged: bool) -> Recorder:
        recorder = Recorder(self._watch, None, "the update by hand", {}, lambda step: math.nan, None)
        recorder.names, recorder.variants, recorder.judged = self._names, self._variants, judged
        return recorder

    def _give_up(self) -> None:
        self._given_up = True
        self._taken.clear()

    def finish(self) -> None:
        """The last gradient moved the weights, too, as far as one can know."""
        if self.recorder is not None:
            self._flush(self.recorder)


def _has_moved(before: list[Any], after: list[Any]) -> bool:
    """From these weights to those, as a step of training moves them."""
    if len(before) != len(after) or any(np.shape(a) != np.shape(b) for a, b in zip(before, after, strict=True)):
        return False
    if any(isinstance(one, jax.Array) and one.is_deleted() for one in (*before, *after)):
        return False
    pairs = [(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in zip(before, after, strict=True)]
    way = math.sqrt(sum(float(np.sum((b - a) ** 2)) for a, b in pairs))
    size = math.sqrt(sum(max(float(np.sum(a**2)), float(np.sum(b**2))) for a, b in pairs))
    return 0 < way < _MOVES * size
