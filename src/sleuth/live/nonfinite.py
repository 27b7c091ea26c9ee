"""The story of NaN and Inf: noticed before the optimiser uses them, seen once more in a replay, named by origin."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial, wraps
from types import CodeType
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from sleuth.findings import Finding
from sleuth.live import checks, diagnose, graph, sentinel
from sleuth.live.batches import Batch, Dealt
from sleuth.live.births import Birth
from sleuth.live.bundle.pack import Keeper
from sleuth.live.harmless import harmless
from sleuth.live.history import History
from sleuth.live.loss_lines import LossLines
from sleuth.live.mending.mender import Mender, Trial
from sleuth.live.numbers import is_finite
from sleuth.live.ranks import team
from sleuth.live.ranks.team import Team
from sleuth.live.replay import ATTEMPTS, HeldBack, Replay, Trouble
from sleuth.live.rounds import Rounds, users_line
from sleuth.live.scalers import Scalers
from sleuth.live.sentinel import LateSentinel, is_bad
from sleuth.live.snapshot import is_a
from sleuth.live.trace import inputs_of

# With --keep-going, a poisoned step is skipped as often as it comes, but looked into only the first few times.
REPLAYS = 3
# Of all weights, those that are asked whether an update went by unheard.
_SPEAKERS = 4


class Wrote(Protocol):
    """Is told of every healthy step; `norms` are those of the gradients of `parameters`, one by one, where at hand."""

    def __call__(
        self,
        step: int,
        loss: float,
        gradient_norm: float,
        parameters: Sequence[Tensor] = (),
        norms: Sequence[Tensor] = (),
    ) -> object: ...


class NonFinite:
    """Hears the taps (see taps.Listener)."""

    def __init__(
        self,
        deliver: Callable[[Finding], bool],
        failed: Callable[[Exception], None],
        wrote: Wrote,
        keep_going: bool,
        prompt: bool | None = None,
        experiments: float = 0.0,
    ) -> None:
        """`deliver` takes a finding, may raise Stop, and answers False where the user silenced it. `prompt` forces the
        reading at once or a step later, which otherwise depends on the device. Fixes are tried for so many seconds."""
        self.off = False
        self.step = 0
        self.skipped = 0
        self.failed = failed
        self._deliver = deliver
        self.wrote = wrote
        self.keeper: Keeper | None = None
        self._keep_going = keep_going
        self._prompt = prompt
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._history = History()
        self._rounds = Rounds()
        self._late = LateSentinel()
        self._versions: dict[int, list[int]] = {}
        self._step_line: tuple[CodeType, int] | None = None
        self._loss: float | None = None
        self._loss_on_device: Tensor | None = None
        self._scalers = Scalers()
        self._replay: Replay | None = None
        self._replays = 0
        self._mender = Mender(experiments)
        # Called in a copy of the process: nobody else is to hear what goes on there.
        self.alone: Callable[[], object] = lambda: None
        # How many steps went by in the replay before the trouble showed.
        self._trial_steps = 0
        self._held: HeldBack | None = None
        self._poisoned = False
        # For the case that several ranks train together: what to say without stopping, how to stop without a word, and
        # whether the user wants to hear a finding at all.
        self.tell: Callable[[Finding], object] = deliver
        self.stand_down: Callable[[], object] = lambda: None
        self.is_silenced: Callable[[Finding], bool] = lambda finding: False
        self._team = Team()
        self._foretold: Replay | None = None
        self._verdict: tuple[Finding, int] | None = None
        self._asked = 0
        self.backwards = 0
        self.gradients_taken = 0
        # What some weights' versions were at the last backward pass, and the step then.
        self._at_backward: tuple[list[int], int] = [], 0
        self._in_closure = False
        # Is the step under way one that `look_into` will be asked to repeat?
        self._repeatable = self._refused = False
        # Told when a closure has returned: which optimiser called it, and how often it has in this step.
        self.evaluated: Callable[[Any, int], object] = lambda optimizer, times: None

    def look_around(self) -> None:
        """Find what was built before the watch began (from code or in a notebook)."""
        self._rounds.look_around()
        for thing in gc.get_objects():
            if is_a(thing, torch.optim.Optimizer):
                self._optimizers.add(thing)

    @property
    def loss_lines(self) -> LossLines:
        return self._rounds.loss_lines

    @property
    def tracing(self) -> bool:
        return self._replay is not None

    @property
    def holds_back(self) -> bool:
        """Is the optimiser's step under way to change nothing?"""
        return self._held is not None

    def untraced(self) -> AbstractContextManager[None]:
        """While a step is traced: what keeps our own arithmetic out of the trace."""
        return self._replay.trace.paused() if self._replay is not None else nullcontext()

    @harmless
    def finish(self) -> None:
        """The program has ended. Trouble that there was no time to look into is told as far as it is known."""
        if self._mender.trial is not None:
            self._mender.trial.give_up("the program ended")
        if self._replay is not None:
            self._give_up("the program left its loop before the step could be repeated")
        elif self._foretold is not None:
            self._heard_by_none_but_us(self._foretold, "the program left its loop before the optimiser's step")

    @harmless
    def crashed(self, error: Exception) -> None:
        """The program ended with an exception: keep what its step started from."""
        if self._mender.trial is not None:
            self._mender.trial.give_up(error)
        if self.keeper is not None and self._replay is None and self._rounds.holds(error):
            self.keeper.pack(Trouble("crash", self.step, math.nan, self._rounds.site), self._rounds, error)
            self.keeper.seal(None)

    def dealt_to(self, error: BaseException) -> Dealt | None:
        """Who dealt the batch of the round that this error ended."""
        newest = self._rounds.dealer.newest()
        return newest if newest is not None and not newest.ended and self._rounds.holds(error) else None

    def switch_off(self) -> None:
        self.off = True
        if self._replay is not None:
            self._replay.stop()
            self._replay = None
        if self._held is not None:
            self._held.give_back()
            self._held = None

    # What is built, and the batches

    @harmless
    def optimizer_made(self, optimizer: Any) -> None:
        self._optimizers.add(optimizer)
        self._rounds.optimizer_made(optimizer, sys._getframe(2))

    @harmless
    def module_with_buffers(self, module: Any) -> None:
        if module._buffers:
            self._rounds.buffers.add(module)

    @harmless
    def indices_drawn(self, iterator: Any, indices: Any) -> None:
        self._rounds.dealer.of(iterator).indices.append(indices)

    @harmless
    def loader_reset(self, iterator: Any) -> None:
        dealt = self._rounds.dealer.of(iterator)
        dealt.indices.clear()
        dealt.ended = False
        dealt.count = dealt.samples = 0

    @harmless
    def loader_ended(self, iterator: Any) -> None:
        self._rounds.dealer.of(iterator).ended = True
        self._rounds.dealer.last = None

    @harmless
    def dealt(self, iterator: Any, batch: Any) -> None:
        self._rounds.dealt(iterator, batch, sys._getframe(2))

    def again(self, iterator: Any) -> tuple[bool, Any]:
        batch = self._next_again(iterator) if self._replay is not None else None
        if batch is None and self._mender.trial is not None and getattr(iterator, "_num_workers", 0) > 0:
            # The workers are those of the process that this is a copy of.
            self._mender.trial.give_up("the next batch is not its own")
        return (True, batch.content) if batch is not None else (False, None)

    @harmless
    def _next_again(self, iterator: Any) -> Batch | None:
        if self._replay is None:
            return None
        dealt = self._rounds.dealer.of(iterator)
        if not dealt.again:
            return None
        batch = dealt.again.popleft()
        self._replay.start(batch.random)
        return batch

    # The backward pass

    def gradients_computed(self) -> None:
        """Without a backward pass: nothing is known of what becomes of them."""
        self.gradients_taken += 1

    @harmless
    def backward_begins(self, tensors: Any) -> None:
        roots = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        self.backwards += 1
        self._rounds.backward_called(sys._getframe(2))
        self._loss = self._read_loss(roots)
        if self._replay is not None and self._replay.running:
            bad = [root for root in roots if is_bad(sentinel.scalar(root))]
            if self._mender.trial is not None and self._loss is not None:
                self._mender.trial.losses.append(self._loss)
            if bad:
                self._conclude(bad, "loss")
            elif self._replay.suspect is not None and self._replay.suspects_line is None:
                self._replay.suspects_line = graph.place_in(self._replay.trace, roots[0], self._replay.suspect)
        elif self._loss is not None:
            self._heard_loss(self._loss, roots)

    def _read_loss(self, roots: tuple[Any, ...]) -> float | None:
        first = roots[0] if roots else None
        if not isinstance(first, Tensor):
            return None
        if not self._reads_at_once(first) and self._replay is None:
            self._loss_on_device = first.detach() if first.numel() == 1 else None
            return None
        if len(roots) == 1:
            return sentinel.scalar(first)
        values = [value for root in roots if (value := sentinel.scalar(root)) is not None]
        return next((value for value in values if is_bad(value)), values[0] if values else None)

    def _reads_at_once(self, tensor: Tensor) -> bool:
        if self._prompt is not None:
            return self._prompt
        return tensor.is_cpu or self._keep_going

    def _heard_loss(self, loss: float, roots: tuple[Any, ...]) -> None:
        if self._scalers.in_use:
            self._scalers.heard(loss)
            return
        if not is_bad(loss):
            self._history.losses.append((self.step, loss))
        elif self._replay is None and self._team.several:
            self._foretell(loss, roots)
        elif self._replay is None:
            self._trouble("loss", loss, arrange=not self._in_closure)
            self._ask_the_graph(roots)

    def _foretell(self, loss: float, roots: tuple[Any, ...]) -> None:
        """The other ranks do not know of it before the gradients are shared: all decide at the optimiser's step."""
        trouble = Trouble("loss", self.step, loss, self._rounds.site)
        self._replay = Replay(trouble, None, self._rounds.buffers, self._birth, self._parameters)
        self._ask_the_graph(roots)
        self._foretold, self._replay = self._foretold or self._replay, None

    def _ask_the_graph(self, roots: tuple[Any, ...]) -> None:
        """While the failed loss is at hand, see what its graph knows, in case the step cannot be repeated."""
        bad = [root for root in roots if is_bad(sentinel.scalar(root)) and root.grad_fn is not None]
        if self._replay is not None and bad:
            self._replay.suspect = graph.suspect(bad[0], self._birth)

    def backward_ended(self, tensors: Any) -> None:
        if self._replay is not None or not self._versions:
            self._look_at_gradients(tensors)

    @harmless
    def _look_at_gradients(self, tensors: Any) -> None:
        if self._replay is not None and self._replay.running:
            bad = sentinel.bad_parameters(self._parameters(tensors))
            if bad:
                self._conclude(bad, "gradient")
        if not self._optimizers:
            self._without_optimizer(tensors)

    def _without_optimizer(self, tensors: Any) -> None:
        """A loop that updates its weights by hand: the end of backward is the last moment before it does."""
        leaves = self._parameters(tensors)
        norm = sentinel.total_norm(sentinel.gradients_of(leaves))
        bad = sentinel.bad_parameters(leaves) if not math.isfinite(norm) else []
        if bad and self._replay is None:
            self._trouble("gradient", norm)
        elif self._replay is not None and self._team.several:
            self._replay_together(None, leaves)
        trial = self._mender.trial
        if trial is not None and self._replay is not None and self._replay.running and not bad:
            trial.updated(leaves)
            trial.give_up("an update by hand cannot be waited for")
        if bad or self._replay is not None:
            for parameter in leaves:
                if parameter.grad is not None:
                    parameter.grad.detach().zero_()
            return
        self.step += 1
        self._rounds.begins()

    def _parameters(self, tensors: Any = ()) -> list[Tensor]:
        """All parameters that optimisers hold; without an optimiser, the leaves below these tensors."""
        if self._optimizers:
            return [p for optimizer in self._optimizers for p in sentinel.parameters_of(optimizer)]
        return graph.leaves_below(tensors)

    # The optimiser's step

    @harmless
    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if id(optimizer) not in self._versions:
            self._optimizers.add(optimizer)
        self._step_line = users_line(sys._getframe(2))
        closure = closure_in(args, kwargs)
        if closure is not None:
            return self._with_checked_closure(optimizer, closure, args, kwargs)
        if "found_inf" not in optimizer.__dict__:
            self._gradients_are_there(optimizer, sentinel.parameters_of(optimizer))
        return None

    def _gradients_are_there(self, optimizer: Any, parameters: list[Tensor]) -> None:
        """All gradients of the step are computed, and the optimiser is about to use them."""
        if self._replay is None and self._scalers.bad_losses:
            # The scaler lets the step through: the gradients are finite although their loss is not.
            self._scalers.bad_losses = 0
            self._trouble("loss", self._loss if self._loss is not None else math.nan, optimizer)
        if self._replay is None:
            self._check_gradients(optimizer, parameters)
        if self._foretold is not None:
            why = "its gradients were finite all the same, or not used, and the other ranks went on"
            self._heard_by_none_but_us(self._foretold, why)
        if self._replay is not None:
            self._step_of_replay(optimizer, parameters)
        if self._poisoned:
            self._poisoned = False
            self._held = self._held or HeldBack(parameters)

    def _check_gradients(self, optimizer: Any, parameters: list[Tensor]) -> None:
        gradients = sentinel.gradients_of(parameters)
        if not gradients:
            return
        if not self._reads_at_once(gradients[0]):
            self._check_late(optimizer, parameters, gradients)
            return
        each = sentinel.norms(gradients)
        norm = self._team.whole_norm(sentinel.norm_of(each), parameters)
        if math.isfinite(norm) or not self._are_bad(parameters):
            self._history.gradient_norms.append((self.step, norm))
            self.wrote(self.step, math.nan if self._loss is None else self._loss, norm, parameters, each)
        elif not self._poisoned:
            self._trouble("gradient", norm, optimizer)

    def _are_bad(self, parameters: list[Tensor]) -> bool:
        return self._team.anywhere(bool(sentinel.bad_parameters(parameters)), parameters)

    def _check_late(self, optimizer: Any, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        self._rounds.dealer.keeps = 2
        reading = self._late.read()
        if reading is not None:
            self.wrote(reading.step, reading.loss, reading.gradient_norm)
            norm = self._team.whole_norm(reading.gradient_norm, parameters)
            if not math.isfinite(norm if self._team.several else norm + reading.loss):
                undone = self._late.undo()
                step, self.step = self.step, reading.step
                self._trouble("gradient", reading.gradient_norm, optimizer, window=2 if undone else 1)
                if self._replay is None:
                    self.step = step
                return
            self._history.losses.append((reading.step, reading.loss))
            self._history.gradient_norms.append((reading.step, reading.gradient_norm))
        self._late.send(self.step, parameters, gradients, self._loss_on_device)

    def _with_checked_closure(self, optimizer: Any, closure: Any, args: Any, kwargs: Any) -> Any:
        """An optimiser that has the loss evaluated itself, once (as trainers have it done) or as often as it likes
        (LBFGS): look at every evaluation, and repeat a bad one on the spot."""
        parameters = sentinel.parameters_of(optimizer)
        times = 0

        @wraps(closure)
        def checked() -> Any:
            nonlocal times
            times += 1
            random, backwards = self._rounds.states.take(), self.backwards
            result = self._evaluate(closure)
            self.evaluated(optimizer, times)
            differentiated = self.backwards > backwards
            if differentiated and self._must_be_repeated(result, optimizer, parameters, random):
                self._evaluate(closure)
                self._was_repeated()
            held = self._closure_ended(optimizer, parameters, first=times == 1)
            return torch.zeros_like(result) if held and isinstance(result, Tensor) else result

        args = tuple(checked if a is closure else a for a in args)
        return args, {name: checked if value is closure else value for name, value in kwargs.items()}

    def _evaluate(self, closure: Any) -> Any:
        self._in_closure = True
        try:
            return closure()
        finally:
            self._in_closure = False

    @harmless
    def _must_be_repeated(self, result: Any, optimizer: Any, parameters: list[Tensor], random: Any) -> bool:
        if self._poisoned or (self._replay is not None and self._replay.running):
            return False
        if self._replay is None:
            gradients = sentinel.gradients_of(parameters)
            if not gradients or not self._reads_at_once(gradients[0]):
                return False
            loss = sentinel.scalar(result) if isinstance(result, Tensor) else result
            norm = self._team.whole_norm(sentinel.total_norm(gradients), parameters)
            bad_loss = is_bad(loss) and not self._team.several
            if bad_loss or (not math.isfinite(norm) and self._are_bad(parameters)):
                self._trouble("loss" if is_bad(loss) else "gradient", norm, optimizer, arrange=False)
        if self._replay is None or self._replay.way != "closure":
            return False
        self._replay.start(random)
        return True

    @harmless
    def _was_repeated(self) -> None:
        if self._replay is not None and self._team.several:
            self._replay.steps = ATTEMPTS
            self._replay_together(None, self._parameters())
        elif self._replay is not None:
            self._give_up("the same step gave finite values when it was repeated")

    @harmless
    def _closure_ended(self, optimizer: Any, parameters: list[Tensor], first: bool) -> bool:
        """True where the gradients were taken away."""
        if first:
            self._gradients_are_there(optimizer, parameters)
            return self._held is not None
        poisoned, self._poisoned = self._poisoned, False
        for parameter in parameters if poisoned else ():
            parameter.grad = None
        return poisoned

    @harmless
    def step_ended(self, optimizer: Any) -> None:
        held, self._held = self._held, None
        trial = self._mender.trial
        if trial is not None and trial.ends_with_this_update:
            self._end_of_replay()
            trial.updated(self._parameters())
        elif trial is not None and self._replay is None:
            trial.trained_on()
        if held is not None:
            held.give_back()
        elif self._replay is None:
            self.step += 1
            self._versions[id(optimizer)] = [parameter._version for parameter in sentinel.parameters_of(optimizer)]
            self._rounds.step_ended(optimizer, several_optimizers=len(self._versions) > 1)
        if self._replay is not None and not self._replay.running and self._replay.way == "next step":
            self._replay.start()

    @harmless
    def stepped_unheard(self) -> bool:
        """Asked before each backward pass of a program that compiles: an optimiser whose step was compiled calls no
        hook. Have the weights changed since the last pass, without a step that was heard?"""
        versions = [p._version for p in self._parameters()[:_SPEAKERS]] if self._optimizers else []
        (before, step), self._at_backward = self._at_backward, (versions, self.step)
        if not before or step != self.step or before == versions or self._replay is not None:
            return False
        self.step += 1
        self._at_backward = versions, self.step
        self._rounds.begins()
        return True

    # Steps that a library makes from a batch, and can make again

    def repeated(self, step: Callable[[], Any]) -> Any:
        """Have a step made; and once more, under the trace, where a number goes bad in it."""
        before, self._repeatable = self._repeatable, True
        try:
            result = step()
            self._look_into(step)
        except Exception:
            if self.off or not self._was_raised_by_a_number():
                raise
            self._look_into(step)
            raise
        finally:
            self._repeatable = before
        return result

    @harmless
    def _was_raised_by_a_number(self) -> bool:
        """Does a function refuse what is not finite, so that the step never comes to its backward pass?"""
        bad, self._refused = self._refused, False
        if bad and self._replay is None:
            self._trouble("loss", math.nan)
        return bad

    @harmless
    def refused(self, tensors: Sequence[Tensor]) -> None:
        """A loss function raised an error over these."""
        bad = [tensor for tensor in tensors if not is_finite(tensor)]
        self._refused = bool(bad)
        if bad and self._replay is not None and self._replay.running:
            self._conclude(bad, "loss")

    def _look_into(self, step: Callable[[], Any]) -> None:
        if self._starts_again():
            with suppress(Exception):
                step()
            self._was_repeated()

    @harmless
    def _starts_again(self) -> bool:
        replay = self._replay
        if replay is None or replay.running:
            return False
        replay.way = "closure"
        replay.start(self._rounds.random_at_start())
        return True

    # Gradient scalers

    @harmless
    def loss_scaled(self, scaler: Any) -> None:
        if scaler.is_enabled():
            self._scalers.in_use = True

    @harmless
    def scaler_updates(self, scaler: Any) -> None:
        scale = self._scalers.hopeless(scaler)
        if self._replay is not None:
            self._replay.steps += 1
            if self._replay.exhausted:
                self._give_up("the gradients were finite when the step was repeated")
        elif scale is not None:
            self._scalers.bad_losses = 0
            self._trouble("scale", scale)

    # Trouble, replay, verdict

    def _trouble(
        self, symptom: Any, value: float, optimizer: Any = None, window: int = 0, arrange: bool = True
    ) -> None:
        self._replays += 1
        if self._replays > REPLAYS:
            self._poisoned = symptom != "scale"
            self.skipped += 1
            self._foretold = None
            return
        foretold, self._foretold = self._foretold, None
        if foretold is not None:
            symptom, value = foretold.trouble.symptom, foretold.trouble.value
        window = window or self._rounds.batches_of_step(optimizer)
        trouble = Trouble(symptom, self.step, value, self._rounds.site, optimizer, window)
        if self.keeper is not None:
            self.keeper.pack(trouble, self._rounds)
        updated = self._last_written_by_an_optimizer()
        finding = diagnose.spoilt_weights(updated, trouble, self._history, self._step_line, self._optimizers)
        random, buffers = self._rounds.random_at_start(), self._rounds.buffers
        replay = Replay(trouble, random, buffers, self._birth, self._parameters)
        if foretold is not None:
            replay.suspect = foretold.suspect
        if self._team.several:
            if not self._all_are_here(replay, finding):
                return
        elif finding is not None:
            self._settle(finding, symptom)
            return
        self._replay = replay
        if arrange and not self._repeatable:
            loaders = self._rounds.loaders(optimizer)
            replay.arrange(loaders, self._rounds.dealer, together=self._team.several)
        else:
            replay.way = "closure"

    def _last_written_by_an_optimizer(self) -> list[Tensor]:
        """The weights that nothing but an optimiser's step has touched last (no load_state_dict, no init)."""
        return [
            parameter
            for optimizer in self._optimizers
            for parameter, version in zip(
                sentinel.parameters_of(optimizer), self._versions.get(id(optimizer), ()), strict=False
            )
            if parameter._version == version
        ]

    def _birth(self, op: Any, args: Any, kwargs: Any, output: Tensor) -> None:
        replay = self._replay
        if replay is not None:
            inputs = [tensor for _, tensor in inputs_of(op.name, args, kwargs)[0]]
            birth = Birth(op, inputs, args, kwargs, output, replay.trace, self._history)
            op.notes["verdict"] = checks.verdict(birth)

    def _step_of_replay(self, optimizer: Any, parameters: list[Tensor]) -> None:
        replay = self._replay
        assert replay is not None
        if self._team.several and (replay.running or self._verdict is not None):
            self._replay_together(optimizer, parameters)
            if self._replay is not None or self._poisoned:
                self._poisoned = False
                self._held = HeldBack(parameters)
            return
        if replay.running:
            bad = sentinel.bad_parameters(parameters)
            if bad:
                self._conclude(bad, "gradient")
                if self._mender.trial is not None:
                    self._held = HeldBack(parameters)
                return
            if replay.trouble.optimizer in (None, optimizer):
                replay.steps += 1
                if self._mender.trial is not None and replay.steps > self._trial_steps:
                    self._mender.trial.ends_with_this_update = True
                    return
            if replay.exhausted:
                self._give_up("the same step gave finite values when it was repeated")
                return
        else:
            replay.waited += 1
            if replay.waited > len(self._optimizers) + 1:
                replay.way = "next step"
        self._held = HeldBack(parameters)

    def _conclude(self, bad: list[Tensor], seen_in: Literal["loss", "gradient"]) -> None:
        """`bad` are the losses, or the parameters whose gradients, were seen to be non-finite under the trace."""
        replay = self._end_of_replay()
        symptom = diagnose.Symptom(seen_in, bad, self._rounds.site.place)
        several = self._team.several
        told = diagnose.told(replay, symptom, self._history, self._rounds.dealer, several)
        if several:
            # The others are on their way to a collective call of this very step: keep it for the optimiser's step.
            self._verdict = told.finding, team.weight(told.finding, seen_in == "loss")
            self._replay = replay
            return
        if self._mender.trial is not None:
            self._mender.trial.bad_again(told)
        finding = self._tried(told, replay)
        if finding is not None:
            self._settle(finding, replay.trouble.symptom)

    def _tried(self, told: diagnose.Told, replay: Replay) -> Finding | None:
        """The finding with what trials say of its fixes; None in the copy of the process that is to make one."""
        if replay.ran_eagerly or replay.way not in ("loop", "loader") or self.is_silenced(told.finding):
            return told.finding
        return self._mender.mended(told, partial(self._try_again, replay), self._loss)

    def _try_again(self, replay: Replay, trial: Trial) -> None:
        """In a copy of the process: repeat the step once more, up to its update, with the edited source in force."""
        self.alone()
        self.failed = self.stand_down = trial.give_up
        self._deliver = self.tell = trial.bad  # type: ignore[assignment]
        self.keeper, self._replays = None, 0
        self._trial_steps = replay.steps
        random, buffers = self._rounds.random_at_start(), self._rounds.buffers
        self._replay = Replay(replay.trouble, random, buffers, self._birth, self._parameters)
        self._replay.resumed = trial.in_force.resume
        self._replay.arrange(self._rounds.loaders(replay.trouble.optimizer), self._rounds.dealer)
        if self._replay.way != replay.way:
            trial.give_up()

    def _give_up(self, why: str) -> None:
        if self._mender.trial is not None:
            self._mender.trial.not_seen_again(why)
        replay = self._end_of_replay()
        self._settle(diagnose.not_seen_again(replay, why, self._history), replay.trouble.symptom, poisoned=False)

    # Several ranks

    def _all_are_here(self, replay: Replay, finding: Finding | None) -> bool:
        """Do all ranks know of this trouble, so that they can repeat the step together? `finding` is what is known
        without a replay. What cannot be looked into together is settled here."""
        weight = team.ARRIVED if finding is None else team.BORN_HERE
        words = self._team.exchange(f"trouble/{self.step}", self._word(finding, weight), team.SECONDS_TO_GATHER)
        symptom = replay.trouble.symptom
        if words is None:
            why = "the other ranks saw nothing of it, so the step could not be repeated together"
            self._settle(finding or diagnose.not_seen_again(replay, why, self._history), symptom)
        elif any(word["weight"] >= team.BORN_HERE for word in words.values()):
            self._settle_together(finding, words, symptom)
        else:
            return True
        return False

    def _replay_together(self, optimizer: Any, parameters: list[Tensor]) -> None:
        """The end of a repeated step: has any rank seen it again? Then all of them end the replay here."""
        replay = self._replay
        assert replay is not None
        bad = sentinel.bad_parameters(parameters) if self._verdict is None else []
        if bad:
            self._conclude(bad, "gradient")
        if replay.trouble.optimizer in (None, optimizer):
            replay.steps += 1
        if self._verdict is None and replay.exhausted:
            why = "the same step gave finite values when it was repeated"
            self._verdict = diagnose.not_seen_again(replay, why, self._history), team.UNSEEN
        finding, weight = self._verdict or (None, -1)
        self._asked += 1
        topic = f"replay/{replay.trouble.step}/{self._asked}"
        words = self._team.exchange(topic, self._word(finding, weight), team.SECONDS_TO_CONCLUDE)
        if words is not None and all(word["weight"] < 0 for word in words.values()):
            return
        self._verdict = None
        self._end_of_replay()
        if words is not None:
            self._settle_together(finding, words, replay.trouble.symptom)
        else:
            why = "another rank was lost while the step was repeated"
            self._settle(finding or diagnose.not_seen_again(replay, why, self._history), replay.trouble.symptom)

    def _word(self, finding: Finding | None, weight: int) -> team.Word:
        return {"weight": weight, "silenced": finding is not None and self.is_silenced(finding)}

    def _settle_together(self, finding: Finding | None, words: dict[int, team.Word], symptom: str) -> None:
        """Whose verdict says most speaks for all; then all stop, or skip the step, together."""
        seen = max(word["weight"] for word in words.values()) > team.UNSEEN
        if finding is not None and team.speaks(words, self._team.rank):
            self._settle(finding, symptom, poisoned=seen)
        elif any(word["silenced"] and team.speaks(words, rank) for rank, word in words.items()):
            self.off = True
        else:
            self.stand_down()
            self._poisoned = seen and symptom != "scale"
            self.skipped += self._poisoned

    def _heard_by_none_but_us(self, foretold: Replay, why: str) -> None:
        """This rank's loss was bad, but it never came to a step that all ranks could repeat together."""
        self._foretold = None
        self.tell(diagnose.not_seen_again(foretold, why, self._history))

    def _end_of_replay(self) -> Replay:
        replay, self._replay = self._replay, None
        assert replay is not None
        self._rounds.dealer.enough()
        replay.stop()
        return replay

    def _settle(self, finding: Finding, symptom: str, poisoned: bool = True) -> None:
        if self.keeper is not None:
            self.keeper.seal(finding)
        if not self._deliver(finding):
            self.off = True
            if self.keeper is not None:
                self.keeper.discard()
        elif poisoned and symptom != "scale":
            self._poisoned = True
            self.skipped += 1


def closure_in(args: Any, kwargs: Any) -> Any:
    """The closure among the arguments of an optimiser's step, if there is one."""
    return kwargs.get("closure") or next((a for a in args[1:] if callable(a)), None)
