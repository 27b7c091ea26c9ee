"""Hears what a JAX program does, inside its compiled functions and outside, and makes steps of training of it."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import jax

from sleuth.live import watch as watches
from sleuth.live.jax import differentiated, stepping, tracing
from sleuth.live.jax.by_hand import ByHand
from sleuth.live.jax.differentiated import Differentiated
from sleuth.live.jax.optimizers import Optimizer, rate_in
from sleuth.live.jax.recipe import names_of
from sleuth.live.jax.recorder import Recorder
from sleuth.live.jax.rows import row_of
from sleuth.live.jax.sights import Gatherer, Sight
from sleuth.live.line import say
from sleuth.program import users_place

_UNHEARD = (
    "gradients are taken inside vmap, pmap, shard_map, while_loop or cond, or in a function that was compiled before "
    "Sleuth began or ahead of time (lower, compile): training there is not watched"
)
_NO_STEPS = "gradients are taken with jax.grad, but nothing was seen to be trained with them"
# A program that makes its optimiser anew for every step has one recorder for all but the first few.
_RECORDERS_OF_A_LINE = 4


class Station:
    """A guest of one watch: all training with JAX in this process."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self._off = False
        self._recorders: dict[Any, Recorder] = {}
        self._lines: Counter[Any] = Counter()
        self._by_hand: dict[Any, ByHand] = {}
        self._last: Recorder | None = None

    @property
    def listens(self) -> bool:
        return not self._off and watches.active() is self._watch

    @property
    def steps(self) -> int:
        return sum(recorder.steps for recorder in self._all())

    def finish(self, error: BaseException | None = None) -> None:
        for hand in self._by_hand.values():
            hand.finish()
        for recorder in self._all():
            recorder.finish(error)
        if self._by_hand and not self.steps:
            self._watch.blind(_NO_STEPS)

    def cut_short(self) -> None:
        for recorder in self._all():
            recorder.run.laboratory.cut_short()

    def fail(self, error: Exception) -> None:
        if not self._off:
            self._off = True
            self._watch.host.failed(error)

    def _all(self) -> list[Recorder]:
        by_hand = [one.recorder for one in self._by_hand.values() if one.recorder is not None]
        return [*dict.fromkeys(self._recorders.values()), *by_hand]

    # While the program traces, or computes outside of any trace

    def unheard(self) -> None:
        self._watch.blind(_UNHEARD)

    def differentiated(self, call: Differentiated) -> None:
        if call.trace is None:
            self._hand(call).taken(call)

    def begins(self, optimizer: Optimizer, params: Any = None, *_: Any, **__: Any) -> None:
        """An optimiser was asked for its first state."""
        known = self._recorders.get(self._key(optimizer, params))
        if known is not None:
            known.begins_anew()

    def updates(self, optimizer: Optimizer, given: Any, state: Any = None, params: Any = None, **extra: Any) -> None:
        """An optimiser was given gradients."""
        gatherer = tracing.gatherer()
        if gatherer is None and not tracing.is_clean():
            self.unheard()
            return
        found = differentiated.behind(given)
        call, fresh = found if found is not None else (None, None)
        recorder = self._recorder(optimizer, given)
        recorder.step_place = users_place(sys._getframe(1))
        recorder.names = names_of(given)
        loss = call.value if call is not None else extra.get("value")
        if gatherer is None:
            self._turn(recorder)
            row = row_of(None if call is not None else loss, given, fresh, rate_in(state))
            recorder.stepped(row, call, fresh, has_loss=loss is not None)
            return
        row = stepping.row(0, loss, given, fresh, rate=rate_in(state))
        sight = Sight(recorder, row, has_loss=loss is not None, loss=loss)
        if call is None:
            sight.given = jax.tree.leaves(given)
        else:
            differentiated.use(call)
            if call.forward is not None:
                sight.variant, sight.moving = recorder.variants.of(call, fresh, recorder.names)
                sight.variant.recipe.structure = jax.tree.structure(given)
        gatherer.sights.append(sight)

    def trace_ends(self, gatherer: Gatherer, calls: list[Differentiated]) -> None:
        """Gradients that no optimiser was given there come out, too: for one outside, or for what is done by hand."""
        for call in calls:
            gatherer.sights.append(self._hand(call).sight(call))

    # Between the steps

    def hear(self, sights: list[Sight]) -> None:
        for sight in sights:
            if isinstance(sight.listener, Recorder):
                self._turn(sight.listener)
            sight.listener.arrived(sight)

    def could_not_look_into(self, name: str, error: Exception) -> None:
        why = f"{name} could not be traced a second time, to see what it does ({_in_brief(error)}): it is not watched"
        self._watch.blind(why)
        say(why)

    def cannot_repeat(self, name: str) -> None:
        say(f"{name} does more than compute (a callback, a print): only the loss that it returns is watched")

    def _turn(self, recorder: Recorder) -> None:
        """Optimisers that take turns know of each other."""
        if self._last is not recorder:
            if self._last is not None and recorder.steps:
                recorder.beside(self._last)
            self._last = recorder

    def _hand(self, call: Differentiated) -> ByHand:
        key = call.line, _shapes(call.gradients)
        if key not in self._by_hand:
            self._by_hand[key] = ByHand(self._watch)
        return self._by_hand[key]

    def _recorder(self, optimizer: Optimizer, given: Any) -> Recorder:
        key = self._key(optimizer, given)
        if key not in self._recorders:
            line = (optimizer.line, *key[1:])
            self._lines[line] += 1
            if optimizer.line is not None and (
                (optimizer.made_in_trace and line in self._recorders) or self._lines[line] > _RECORDERS_OF_A_LINE
            ):
                return self._recorders[line]
            rate = optimizer.rate()
            made = Recorder(self._watch, optimizer.made, optimizer.kind, optimizer.settings, rate, optimizer)
            self._recorders[key] = self._recorders[line] = made
        return self._recorders[key]

    def _key(self, optimizer: Optimizer, tree: Any) -> tuple[Any, ...]:
        """One optimiser may train several models."""
        return optimizer.key, _shapes(tree)


def _shapes(tree: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(jax.numpy.shape(leaf) for leaf in jax.tree.leaves(tree))


def _in_brief(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:120]}"
