"""The host's side of a watched optimiser: gathers signals from what the steps tell, and lets the rules judge."""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

import jax
import numpy as np

from sleuth.findings import Finding, Place
from sleuth.live.history import History
from sleuth.live.jax import births, differentiated, looks, rows, stepping, tracing
from sleuth.live.jax.differentiated import Differentiated
from sleuth.live.jax.laboratory import Bench
from sleuth.live.jax.listing import Op
from sleuth.live.jax.recipe import Recipe
from sleuth.live.jax.sights import Sight
from sleuth.live.jax.stepping import DISTANCE, FIRST_NORM, LOSS, RATE, STEP
from sleuth.live.jax.variants import Variant, Variants
from sleuth.live.judge import Judge
from sleuth.live.signals import Crash, OptimizerSignals, Run
from sleuth.live.stop import Stop

# Steps wait to be read, so that the program need not wait for them: so many, so long (in seconds), or while they hold
# so much (in bytes).
_UNREAD, _SECONDS, _MOST_HELD = 64, 0.25, 2 << 20
# Of a loop inside a compiled function so many rounds are told one by one.
_ROUNDS = 2048
# Where no more is known than how it begins, so many: too few to judge how it goes.
_OF_A_BEGINNING = 64
# Gradients are followed for so many steps.
_FOLLOWED = 64
_LOOKS_KEPT = 64
# The old gradients are in the new to the last digits that a sum in float32 keeps.
_SAME = 1e-3


class Recorder:
    """One optimiser."""

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
        self._given_names = names
        self.off = False
        self._watch = watch
        self._made, self._kind, self._settings, self._inner = made, kind, settings, inner
        self._rate = rate
        self.rate_now = math.nan
        self._names_of_values: tuple[str, ...] = ()
        self.variants = Variants(relocate)
        self._newest: Variant | None = None
        self.has_loss = True
        self.judged = True
        self.names: tuple[str, ...] = names
        self._unread: deque[Sight] = deque()
        self._reading = False
        self._read_at = 0.0
        self._steps_before = 0
        self._begins_anew = False
        self.step_place: Place | None = None
        self._begin()

    def _begin(self) -> None:
        self.run = Run()
        self.signals = OptimizerSignals(self._kind, self._made, stateful=True, settings=self._settings)
        self.run.optimizers.append(self.signals)
        self.history = History()
        self.bench = Bench(self.run, self._inner, self._watch.host.experiments)
        self.run.laboratory = self.bench
        self.judge = Judge(self.run, self._watch.host.tell)
        self._next_step = 0
        # Steps that have come, read or not, and which of those that are to come is to be looked at.
        self._arrived = self._next_due = 0
        self._rate_until = 0
        self._looked = -1
        self._norm_before = math.nan
        self.told_bad = False
        self._looked_in_vain = False

    def begins_anew(self) -> None:
        """The optimiser was given new weights: what comes next is another training."""
        self._begins_anew = True

    def beside(self, other: Recorder) -> None:
        """The two take turns: neither is a plain training."""
        for one, another in ((self, other), (other, self)):
            if another.signals not in one.run.optimizers:
                one.run.optimizers.append(another.signals)

    # In the trace

    def variant(self, call: Differentiated, fresh: Any) -> tuple[Variant, list[Any]]:
        """How the loss behind these gradients is computed, and the inputs of that which come with each step."""
        self._newest, moving = self.variants.of(call, fresh, self._given_names)
        return self._newest, moving

    # Between the steps

    def arrived(self, sight: Sight) -> None:
        """A step that a compiled function took, or several."""
        found = differentiated.behind(sight.given) if sight.given is not None else None
        if found is not None:
            call, fresh = found
            self._join(sight, call, fresh)
            if self._arrived < _FOLLOWED:
                sight.distance = rows.distance(sight.given or (), jax.tree.leaves(fresh))
        self.step(sight)

    def stepped(self, row: Any, call: Differentiated | None, fresh: Any, has_loss: bool) -> None:
        """A step outside of any trace."""
        sight = Sight(self, row, has_loss=has_loss)
        if call is not None:
            self._join(sight, call, fresh)
        self.step(sight)

    def _join(self, sight: Sight, call: Differentiated, fresh: Any) -> None:
        """The gradients were taken elsewhere than the step."""
        differentiated.use(call)
        sight.has_loss, sight.loss = call.value is not None, call.value
        if call.variant is not None:
            sight.variant, sight.moving = call.variant, call.moving
            sight.kept, sight.kept_as, sight.kept_for = call.seen.kept, call.seen.kept_as, call.seen.listener
        else:
            sight.late = functools.partial(self.variants.of_numbers, call, fresh, self.names)

    def step(self, sight: Sight) -> None:
        if self.off:
            return
        if self._begins_anew:
            self._begin_anew()
        unread = self._unread
        if not sight.many:
            if self._arrived >= self._next_due and sight.row is not None:
                self._come_due(sight)
            self._arrived += 1
        unread.append(sight)
        if sight.late is not None:
            self.read()
        elif len(unread) > 1 and (unread[-2].due or unread[-2].many or self._is_time(sight)):
            self.read(leave=1)

    def _come_due(self, sight: Sight) -> None:
        sight.due, self._next_due = True, stepping.next_due(self._arrived)
        sight.settle()
        if sight.moving is not None:
            # Arrays of the program's own may be filled anew for its next step.
            sight.moving = [np.array(v) if isinstance(v, np.ndarray) else v for v in sight.moving]

    def _is_time(self, sight: Sight) -> bool:
        if len(self._unread) > _UNREAD or monotonic() - self._read_at > _SECONDS:
            return True
        if sight.row is None or sight.variant is None or sight.variant.bytes * _UNREAD < _MOST_HELD:
            return False
        held = sum(one.holds for one in self._unread)
        return held > 2 and held * sight.variant.bytes > _MOST_HELD

    def _begin_anew(self) -> None:
        self._begins_anew = False
        if self._arrived:
            self.finish()
            self._steps_before += self.run.step
            self._begin()

    def read(self, leave: int = 0) -> None:
        """Of the steps that have come, all but so many."""
        if self._reading:
            return
        self._reading = True
        try:
            with tracing.inside():
                if self._next_step >= self._rate_until:
                    # Often while the run is young: a warm-up starts from 0.
                    self.rate_now = self._rate(self._next_step)
                    self._rate_until = self._next_step + min(self._next_step + 1, _UNREAD)
                self._read_at = monotonic()
                while len(self._unread) > leave:
                    sight = self._unread.popleft()
                    self._newest = sight.variant or self._newest
                    if sight.many:
                        self._hear_loop(sight)
                    elif sight.row is None:
                        self._hear_loss(sight)
                    else:
                        self._hear(sight)
        except Stop:
            pass
        except Exception as error:
            self.fail(error)
        finally:
            self._reading = False

    def _hear(self, sight: Sight) -> None:
        self.has_loss = sight.has_loss
        row = np.array(sight.row)
        if sight.loss is not None:
            row[LOSS] = rows.loss_in(np.asarray(sight.loss))
        if sight.distance is not None:
            row[DISTANCE] = np.asarray(sight.distance)
        row[STEP] = self._next_step
        numbers = row.tolist()
        is_finite = rows.is_finite(numbers, sight.has_loss)
        if not sight.due and is_finite:
            self.heard(numbers, sight.variant, None)
            return
        if not is_finite:
            self._tell_first_bad(sight)
        variant, inputs = sight.variant, sight.inputs()
        if inputs is None and sight.late is not None:
            variant, inputs = _if_it_can(sight.late)
            self._newest = variant or self._newest
        if inputs is None:
            inputs = rows.found_among(sight, row)
        following = self._unread[0] if self._unread else None
        after = following.weights() if following is not None and following.variant is variant else None
        self.heard(numbers, variant, inputs, after)

    def _hear_loss(self, sight: Sight) -> None:
        """A step of which the loss is known, or not even that. Then it is taken to be what it was: the rules think of
        curves as even."""
        step, known = self._next_step, self.run.loss
        loss = None if sight.loss is None else rows.loss_in(np.asarray(sight.loss))
        if loss is not None and not math.isfinite(loss):
            self._tell_first_bad(sight)
        self._passed(step, loss)
        if loss is None and known.count:
            known.add(step, known.last)

    def _hear_loop(self, loop: Sight) -> None:
        """Of a long loop every so many rounds, those that were sent, and the first bad one."""
        first, total = self._next_step, loop.steps
        losses = None if loop.loss is None else np.asarray(loop.loss, np.float64).reshape(-1)
        told, sent = rows.rounds(loop)
        bad = [i for i, row in told.items() if not stepping.all_finite(row, loop.has_loss)]
        bad += [] if losses is None else np.flatnonzero(~np.isfinite(losses)).tolist()
        if bad or (loop.sound is not None and not self._looked_in_vain and not bool(loop.sound)):
            self._tell_first_bad(loop)
        wanted = {*range(0, total, max(1, total // _ROUNDS)), *(i for i, row in told.items() if row.tobytes() in sent)}
        if losses is None and len(told) < total:
            # How its beginning went is not how the whole did.
            wanted &= set(range(_OF_A_BEGINNING))
        for i in sorted({*wanted, *(bad and [min(bad)])}):
            if i not in told:
                self._passed(first + i, None if losses is None else losses[i])
                continue
            self.has_loss, row = loop.has_loss, told[i]
            inputs = rows.inputs_sent(loop, row, sent)
            row[STEP] = first + i
            self.heard(row.tolist(), loop.variant, inputs)
        self._next_step = self._arrived = self.run.step = first + total
        self._next_due = stepping.next_due(self._arrived - 1)

    def _tell_first_bad(self, seen: Sight) -> None:
        """Something was seen to be bad; it may have been before, where nobody looked."""
        if self.told_bad or seen.kept is None:
            return
        bad = rows.first_bad(seen, self._next_step)
        if bad is None:
            self._looked_in_vain = True
            return
        self.has_loss = bad.has_loss
        norm = math.hypot(*bad.numbers[FIRST_NORM : FIRST_NORM + len(self.names)])
        self._trouble(bad.step, bad.numbers[LOSS], norm, bad.variant, bad.inputs)

    # What the numbers say

    def heard(self, row: Any, variant: Variant | None, inputs: list[Any] | None, after: Any = None) -> None:
        """A step's numbers; what its loss was computed from and the weights after it, where those are known."""
        numbers: list[float] = row if isinstance(row, list) else row.tolist()
        step, run = int(numbers[STEP]), self.run
        self._next_step = step + 1
        last = FIRST_NORM + len(self.names)
        gradients, updates = numbers[FIRST_NORM:last], numbers[last:]
        loss, norm = numbers[LOSS], math.hypot(*gradients)
        if math.isfinite(numbers[RATE]):
            self.rate_now = numbers[RATE]
        self._put(step, loss, norm, gradients)
        run.step = step
        run.backwards += 1
        self._follow(step, numbers[DISTANCE], norm)
        self._signal()
        if not math.isfinite(norm) or (self.has_loss and not math.isfinite(loss)):
            self._trouble(step, loss, norm, variant, inputs)
        else:
            if self.has_loss:
                run.loss.add(step, loss)
                self.history.losses.append((step, loss))
            run.gradient.add(step, norm)
            self.history.gradient_norms.append((step, norm))
            if variant is not None and inputs is not None and stepping.due_between(self._looked, step):
                self._looked = step
                if after is not None:
                    before = [inputs[i] for i in variant.recipe.weights]
                    updates = [
                        float(np.linalg.norm(np.asarray(b) - np.asarray(a))) for a, b in zip(before, after, strict=True)
                    ]
                self._look(variant.recipe, inputs, step, loss, gradients, updates if len(updates) else None)
        self._over()

    def _passed(self, step: int, loss: float | None) -> None:
        """A step of which nothing but the loss is known, if that."""
        run = self.run
        self._next_step, run.step = step + 1, step
        run.backwards += 1
        self._norm_before = math.nan
        self._signal()
        if loss is not None:
            self._watch.host.put(step, {"loss": loss} | self._rate_known())
            if math.isfinite(loss):
                run.loss.add(step, loss)
                self.history.losses.append((step, loss))
            else:
                self.has_loss = True
                self._trouble(step, loss, math.nan, None, None)
        self._over()

    def _over(self) -> None:
        self.run.step = self._next_step
        if self.judged:
            self.judge.stepped()

    def _put(self, step: int, loss: float, norm: float, gradients: list[float]) -> None:
        values = dict(zip(self._value_names(), gradients, strict=True))
        values["gradient norm"] = norm
        if self.has_loss:
            values["loss"] = loss
        self._watch.host.put(step, values | self._rate_known())

    def _rate_known(self) -> dict[str, float]:
        return {"learning rate": self.rate_now} if math.isfinite(self.rate_now) else {}

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
        return self._steps_before + max(self.run.step, self._arrived)

    def finish(self, error: BaseException | None = None) -> None:
        """The program has ended: well, or with an error."""
        if self.off or self.run.ended:
            return
        self.read()
        try:
            crash = Crash(type(error).__name__, str(error), None) if isinstance(error, Exception) else None
            if self.judged:
                with tracing.inside():
                    self.judge.finish(crash, stopped=self.told_bad)
        except Stop:
            pass
        except Exception as error:
            self.fail(error)


def _if_it_can(late: Callable[[], tuple[Variant, list[Any]]]) -> tuple[Variant | None, list[Any] | None]:
    """A loss that is decided by numbers, in Python, cannot be read without them."""
    try:
        return late()
    except Exception:
        return None, None
