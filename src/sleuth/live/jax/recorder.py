"""The host's side of a watched optimiser: gathers signals from what the steps tell, and lets the rules judge."""

from __future__ import annotations

import functools
import math
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from sleuth.findings import Finding, Place
from sleuth.live.history import History
from sleuth.live.jax import births, differentiated, looks, stepping
from sleuth.live.jax.laboratory import Bench
from sleuth.live.jax.listing import Op
from sleuth.live.jax.recipe import Recipe, names_of, trace
from sleuth.live.jax.stepping import DISTANCE, FIRST_NORM, LOSS, ROWS, STEP, Mode, WatchedState, is_due
from sleuth.live.judge import Judge
from sleuth.live.line import say
from sleuth.live.signals import Crash, OptimizerSignals, Run
from sleuth.live.stop import Stop
from sleuth.program import place_of, users_frame

# What the loss is computed from may ride along up to this size; beyond it a callback is cheaper than memory.
_MOST_KEPT = 8 << 20
# Gradients are followed for so many steps.
_FOLLOWED = 64
_LOOKS_KEPT = 64
_WAITING = 64
# The old gradients are in the new to the last digits that a sum in float32 keeps.
_SAME = 1e-3


@dataclass(eq=False, slots=True)
class Variant:
    """The step as it was traced for arguments of certain shapes: how its loss is computed, which inputs of that come
    with the step (`moving`), and the others."""

    recipe: Recipe
    moving: tuple[int, ...]
    shapes: tuple[tuple[tuple[int, ...], Any], ...]
    constants: list[Any]

    def inputs(self, moving: Sequence[Any]) -> list[Any]:
        inputs = list(self.constants)
        for i, value, (_, kind) in zip(self.moving, moving, self.shapes, strict=True):
            lost_its_kind = _is_key(kind) and not _is_key(value.dtype)
            inputs[i] = jax.random.wrap_key_data(value, impl=_key_kind(kind)) if lost_its_kind else value
        return inputs


@dataclass(eq=False, slots=True)
class Left:
    """What a step left behind in the state."""

    step: Any
    rows: Any
    kept: tuple[Any, ...]

    @property
    def gone(self) -> bool:
        """Was it given away to the next step, which the program may ask for?"""
        return bool(self.rows.is_deleted())


class Recorder:
    """One watched optimiser."""

    def __init__(
        self,
        watch: Any,
        made: Place | None,
        kind: str,
        settings: dict[str, float],
        rate: Callable[[int], float],
        inner: Any,
        relocate: Callable[[Op], Any] | None = None,
        names: tuple[str, ...] = (),
    ) -> None:
        """`inner` is the optimiser as (init, update); `relocate` gives the line of an operation where that is not the
        innermost of the user's; `names` those of the weights, where their tree does not tell."""
        self._relocate = relocate
        self._given_names = names
        self.off = False
        self._watch = watch
        self._made, self._kind, self._settings, self._inner = made, kind, settings, inner
        self._rate = rate
        self.rate_now = math.nan
        self._names_of_values: tuple[str, ...] = ()
        self._variants: dict[Any, Variant] = {}
        self._recipes: dict[Any, Recipe] = {}
        self._newest: Variant | None = None
        self.has_loss = True
        self.names: tuple[str, ...] = names
        self._waiting: deque[tuple[Any, Variant | None, Any]] = deque()
        self._left: deque[Left] = deque(maxlen=ROWS)
        self._since_read = 0
        self._busy = False
        self.step_place: Place | None = None
        self._begin()

    def __deepcopy__(self, memo: Any) -> Recorder:
        """A copy of a state is watched by the same."""
        return self

    def _begin(self) -> None:
        self.run = Run()
        self.signals = OptimizerSignals(self._kind, self._made, stateful=True, settings=self._settings)
        self.run.optimizers.append(self.signals)
        self.history = History()
        self.bench = Bench(self.run, self._inner, self._watch.host.experiments)
        self.run.laboratory = self.bench
        self.judge = Judge(self.run, self._watch.host.tell)
        self._next_step = 0
        self._norm_before = math.nan
        self.told_bad = False

    # In the trace (or outside of any, on numbers)

    def init(self, params: Any, inner: Any) -> WatchedState:
        leaves = jax.tree.leaves(params)
        if not any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            if self.run.step:
                self.finish()
                self._begin()
            self.bench.first_weights(leaves)
        self.signals.parameters = len(leaves)
        return stepping.first_state(inner, params, self)

    def stepped(self, given: Any, state: WatchedState, value: Any) -> WatchedState:
        """What `state` becomes, but for its inner part, by a step with these gradients."""
        frame = users_frame(sys._getframe(1))
        self.step_place = place_of(frame.f_code, frame.f_lasti) if frame is not None else None
        found = differentiated.behind(given)
        call, fresh = found if found is not None else (None, None)
        loss = call.value if call is not None else value
        self.has_loss = loss is not None
        self.names = self._given_names or names_of(given)
        numbers = _row(state.sleuth_step, loss, given, fresh)
        if not isinstance(numbers, jax.core.Tracer):
            return self._stepped_eagerly(state, numbers, call, fresh)
        variant, moving = self.variant(call, fresh) if call is not None else (None, [])
        rows = jax.lax.dynamic_update_index_in_dim(state.sleuth_rows, numbers, state.sleuth_step % ROWS, 0)
        if state.sleuth_mode == "called":
            bad = stepping.is_bad(numbers, self.has_loss, len(self.names))
            send = functools.partial(self._sent, variant)
            stepping.send_when_due(state.sleuth_step, bad, rows, moving, send)
        kept = state.sleuth_kept
        if kept and [_kind(v) for v in kept[1:]] == [_kind(v) for v in moving]:
            kept = (state.sleuth_step, *moving)
        return WatchedState(None, state.sleuth_step + 1, rows, kept, self, state.sleuth_mode)

    def variant(self, call: Any, fresh: Any) -> tuple[Variant, list[Any]]:
        """Inputs that are known while tracing stay with the variant; the others come with each step."""
        recipe, inputs = self._recipe(call, fresh)
        used = recipe.listing.used
        moving = tuple(i for i, v in enumerate(inputs) if isinstance(v, jax.core.Tracer) and i in used)
        shapes = tuple(_kind(inputs[i]) for i in moving)
        known = [_blank(*_kind(v)) if isinstance(v, jax.core.Tracer) and i not in used else v
                 for i, v in enumerate(inputs)]  # fmt: skip
        known = [None if i in moving else v for i, v in enumerate(known)]
        self._newest = self._variants[shapes] = Variant(recipe, moving, shapes, known)
        return self._newest, [inputs[i] for i in moving]

    def variant_for(self, moving: Sequence[Any]) -> Variant | None:
        """The variant whose inputs have these shapes."""
        return self._variants.get(tuple(_kind(value) for value in moving))

    def _recipe(self, call: Any, fresh: Any) -> tuple[Recipe, list[Any]]:
        """Where it is the same as before, what was compiled for that still holds."""
        recipe, inputs = trace(call, fresh, self._relocate)
        recipe.names = self._given_names or recipe.names
        key = (recipe.line, len(recipe.listing.ops), tuple(_kind(v) for v in inputs))
        return self._recipes.setdefault(key, recipe), inputs

    def _stepped_eagerly(self, state: WatchedState, numbers: Any, call: Any, fresh: Any) -> WatchedState:
        step = int(state.sleuth_step)
        row = np.asarray(numbers)
        variant, inputs = None, None
        if call is not None and (is_due(step) or not np.isfinite(row[LOSS:]).all()):
            recipe, inputs = self._recipe(call, fresh)
            variant = self._newest = Variant(recipe, (), (), inputs)
        self.rate_now = self._rate(step)
        self.heard(row, variant, inputs)
        return WatchedState(None, state.sleuth_step + 1, state.sleuth_rows, (), self, state.sleuth_mode)

    # Between the steps

    def _sent(self, variant: Variant | None, rows: Any, moving: Any) -> None:
        """Called by the runtime on a thread of its own: only put it where the program's thread finds it."""
        if moving is None or len(self._waiting) < _WAITING:
            self._waiting.append((rows, variant, moving))

    def leaves_jit(self, state: WatchedState) -> None:
        if self.off or self._busy:
            return
        if state.sleuth_step.ndim:
            self.off = True
            say("several models trained at once, by vmap or pmap, are not watched")
            return
        if not _is_tracing():
            # The trace is over: what it differentiated is known, and its tracers are of no more use.
            differentiated.calls.clear()
        self._left.append(Left(state.sleuth_step, state.sleuth_rows, state.sleuth_kept))
        self._since_read += 1

    def enters_jit(self, state: WatchedState) -> tuple[Mode, tuple[Any, ...]]:
        as_it_was = state.sleuth_mode, state.sleuth_kept
        if self.off or self._busy or not self._since_read or _is_tracing():
            return as_it_was
        self._busy = True
        try:
            if state.sleuth_mode == "called":
                self._take_waiting(wait=not self._next_step)
                return self._choose(as_it_was)
            if self._is_time():
                self._read_rows()
        except Exception as error:
            self.fail(error)
        finally:
            self._busy = False
        return as_it_was

    def _is_time(self) -> bool:
        """Every few steps; one step after one that is to be looked at, when its update shows; at once where a step's
        arrays are given away to the next."""
        if self._since_read >= ROWS - 2 or is_due(self._next_step + self._since_read - 2):
            return True
        return len(self._left) > 1 and self._left[-2].gone

    def _take_waiting(self, wait: bool) -> None:
        if wait:
            jax.effects_barrier()
        while self._waiting:
            rows, variant, moving = self._waiting.popleft()
            newest = float(np.nanmax(np.asarray(rows)[:, STEP]))
            known = variant is not None and moving is not None
            inputs = variant.inputs(moving) if variant is not None and known else None
            self._hear_rows(
                np.asarray(rows),
                lambda step, v=variant, i=inputs, n=newest: (v, i) if i is not None and step == n else None,  # type: ignore[misc]
            )

    def _read_rows(self) -> None:
        self._since_read = 0
        left = [one for one in self._left if not one.gone]
        if not left:
            return
        newest = left[-1]
        last = int(newest.step) - 1
        by_step = {last - back: one for back, one in enumerate(reversed(left))}

        def seen(step: int) -> Any:
            one, after = by_step.get(step), by_step.get(step + 1)
            if one is None or not one.kept or int(one.kept[0]) != step:
                return None
            variant = self.variant_for(one.kept[1:])
            if variant is None:
                return None
            inputs = variant.inputs(one.kept[1:])
            then = None
            if after is not None and after.kept and int(after.kept[0]) == step + 1:
                other = self.variant_for(after.kept[1:])
                weights = other.inputs(after.kept[1:]) if other is not None else []
                then = [weights[i] for i in other.recipe.weights] if other is not None else None
            return variant, inputs, then

        self._hear_rows(np.asarray(newest.rows), seen)

    def _hear_rows(self, rows: Any, seen: Callable[[int], Any]) -> None:
        """`seen` gives what the loss of a step was computed from, and the weights after it, where those are known."""
        fresh = sorted((row for row in rows if row[STEP] >= self._next_step), key=lambda row: float(row[STEP]))
        self.rate_now = self._rate(int(fresh[-1][STEP])) if fresh else math.nan
        for row in fresh:
            step = int(row[STEP])
            wanted = is_due(step) or not np.isfinite(row[LOSS if self.has_loss else FIRST_NORM :]).all()
            self.heard(row, *((seen(step) if wanted else None) or (None, None)))

    def _choose(self, as_it_was: tuple[Mode, tuple[Any, ...]]) -> tuple[Mode, tuple[Any, ...]]:
        """How the steps from here on are to tell. A jitted call that took several steps tells by callback."""
        if self._next_step != 1 or self._newest is None:
            return as_it_was
        blank = [_blank(shape, kind) for shape, kind in self._newest.shapes]
        if sum(value.nbytes for value in blank) > _MOST_KEPT:
            return as_it_was
        return "kept", (jax.numpy.full((), -1, jax.numpy.int32), *blank)

    # What the numbers say

    def heard(self, row: Any, variant: Variant | None, inputs: list[Any] | None, after: Any = None) -> None:
        """A step's numbers; what its loss was computed from and the weights after it, where those are known."""
        step, run = int(row[STEP]), self.run
        self._next_step = step + 1
        leaves = len(self.names)
        gradients, updates = row[FIRST_NORM : FIRST_NORM + leaves], row[FIRST_NORM + leaves :]
        loss = float(row[LOSS])
        norm = float(np.sqrt(np.sum(np.square(gradients, dtype=np.float64))))
        self._put(step, loss, norm, gradients)
        run.step = step
        run.backwards += 1
        self._follow(step, float(row[DISTANCE]), norm)
        self._signal()
        if not math.isfinite(norm) or (self.has_loss and not math.isfinite(loss)):
            self._trouble(step, loss, norm, variant, inputs)
        else:
            if self.has_loss:
                run.loss.add(step, loss)
                self.history.losses.append((step, loss))
            run.gradient.add(step, norm)
            self.history.gradient_norms.append((step, norm))
            if variant is not None and inputs is not None and is_due(step):
                if after is not None:
                    before = [inputs[i] for i in variant.recipe.weights]
                    updates = [
                        np.linalg.norm(np.asarray(b) - np.asarray(a)) for a, b in zip(before, after, strict=True)
                    ]
                self._look(variant.recipe, inputs, step, loss, gradients, updates if len(updates) else None)
        run.step = step + 1
        self.judge.stepped()

    def _put(self, step: int, loss: float, norm: float, gradients: Any) -> None:
        values = dict(zip(self._value_names(), gradients.tolist(), strict=True))
        values["gradient norm"] = norm
        if self.has_loss:
            values["loss"] = loss
        if math.isfinite(self.rate_now):
            values["learning rate"] = self.rate_now
        self._watch.host.put(step, values)

    def _value_names(self) -> tuple[str, ...]:
        if len(self._names_of_values) != len(self.names):
            self._names_of_values = tuple(f"gradient norm/{name}" for name in self.names)
        return self._names_of_values

    def _signal(self) -> None:
        signals = self.signals
        signals.steps += 1
        signals.step_place = self.step_place
        if math.isfinite(self.rate_now):
            signals.rate = self.rate_now
            signals.highest_rate = max(signals.highest_rate, self.rate_now)
            signals.rates_seen += 1
        if self._newest is not None:
            self.run.backward_place = self._newest.recipe.place

    def _follow(self, step: int, distance: float, norm: float) -> None:
        """Are the gradients given the fresh ones plus, to the last digits, all that was given the step before?"""
        before, self._norm_before = self._norm_before, norm
        if step >= _FOLLOWED or not before > 0 or not distance > 0 or not math.isfinite(distance):
            return
        if abs(distance - before) <= _SAME * before:
            place = self._newest.recipe.place if self._newest is not None else None
            self.run.facts.note("gradients carried over", step, place, step_line=self.step_place)

    def _look(self, recipe: Recipe, inputs: list[Any], step: int, loss: float, gradients: Any, updates: Any) -> None:
        look = looks.take(recipe, inputs, step, loss, gradients, updates)
        self.run.looks.append(look)
        if len(self.run.looks) > _LOOKS_KEPT:
            del self.run.looks[16::2]
        for one in look.losses:
            if one.is_root:
                for label, count in one.labels.items():
                    self.run.labels[label] = self.run.labels.get(label, 0) + count
        self.bench.offer(recipe, inputs, loss)

    def _trouble(self, step: int, loss: float, norm: float, variant: Variant | None, inputs: Any) -> None:
        if self.told_bad:
            return
        self.told_bad = True
        recipe = (variant or self._newest).recipe if (variant or self._newest) is not None else None  # type: ignore[union-attr]
        place = recipe.place if recipe is not None else self.step_place
        self._tell_bad(births.finding(recipe, inputs, step, loss, norm, self.history, place))

    def _tell_bad(self, finding: Finding) -> None:
        """Inside jit there is nowhere to raise: the program is told, and goes on."""
        self._watch.host.tell(finding)

    def fail(self, error: Exception) -> None:
        if not self.off:
            self.off = True
            self._watch.host.failed(error)

    @property
    def steps(self) -> int:
        return self.run.step

    def finish(self, error: BaseException | None = None) -> None:
        """The program has ended: well, or with an error."""
        if self.off or self.run.ended:
            return
        self._busy = True
        try:
            self._take_waiting(wait=True)
            self._read_rows()
            crash = Crash(type(error).__name__, str(error), None) if isinstance(error, Exception) else None
            self.judge.finish(crash, stopped=self.told_bad)
        except Stop:
            pass
        except Exception as error:
            self.fail(error)
        finally:
            self._busy = False


def _is_tracing() -> bool:
    from jax._src import core

    return not core.trace_state_clean()


def _row(step: Any, loss: Any, given: Any, fresh: Any) -> Any:
    values = (step, loss, given, fresh)
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values)):
        return stepping.row(*values)
    return _compiled_row()(*values)


@functools.cache
def _compiled_row() -> Any:
    return differentiated.original("jit")(stepping.row)


def _kind(value: Any) -> tuple[tuple[int, ...], Any]:
    return tuple(value.shape), value.dtype


def _is_key(dtype: Any) -> bool:
    return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def _key_kind(dtype: Any) -> str:
    return str(dtype._impl.name)


def _blank(shape: tuple[int, ...], dtype: Any) -> Any:
    if not _is_key(dtype):
        return np.zeros(shape, dtype)
    key = jax.random.key(0, impl=_key_kind(dtype))
    return jax.random.split(key, shape) if shape else key
