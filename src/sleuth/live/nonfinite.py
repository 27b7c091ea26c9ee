"""The story of NaN and Inf: noticed before the optimiser uses them, seen once more in a replay, named by origin."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from collections.abc import Callable
from functools import wraps
from types import CodeType, FrameType
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor
from torch.compiler import is_dynamo_compiling

from sleuth.findings import Finding
from sleuth.live import checks, diagnose, graph, sentinel
from sleuth.live.batches import Batch, Dealer
from sleuth.live.births import Birth
from sleuth.live.history import History
from sleuth.live.replay import HeldBack, Replay, Trouble
from sleuth.live.rewind import Site, lines_now, site
from sleuth.live.sentinel import LateSentinel, is_bad
from sleuth.live.snapshot import Buffers, RandomState, RandomStates, is_a
from sleuth.live.stop import Stop
from sleuth.live.trace import inputs_of
from sleuth.program import place_of, users_frame

# With --keep-going, a poisoned step is skipped as often as it comes, but looked into only the first few times.
REPLAYS = 3
# The variables of a loop are all there after its first rounds.
LOOKS_FOR_GENERATORS = 2
# A loss does not depend on the scale of its gradients: when it is not finite this many times on end, no smaller scale
# will mend it.
BAD_SCALED_LOSSES = 3

Method = TypeVar("Method", bound=Callable[..., Any])


def harmless(method: Method) -> Method:
    """An error of ours is reported once and switches this story off; the program goes on."""

    @wraps(method)
    def guarded(self: NonFinite, *args: Any, **kwargs: Any) -> Any:
        if self.off or is_dynamo_compiling():
            return None
        try:
            if self._replay is None:
                return method(self, *args, **kwargs)
            with self._replay.trace.paused():
                return method(self, *args, **kwargs)
        except Stop:
            raise
        except Exception as error:
            self.switch_off()
            self.failed(error)
            return None

    return guarded  # type: ignore[return-value]


class NonFinite:
    """Hears the taps (see taps.Listener)."""

    def __init__(
        self,
        deliver: Callable[[Finding], bool],
        failed: Callable[[Exception], None],
        wrote: Callable[[int, float, float], object],
        keep_going: bool,
        prompt: bool | None = None,
    ) -> None:
        """`deliver` takes a finding, may raise Stop, and answers False where the user silenced it. `prompt` forces the
        reading at once or a step later, which otherwise depends on the device."""
        self.off = False
        self.step = 0
        self.skipped = 0
        self.failed = failed
        self._deliver = deliver
        self._wrote = wrote
        self._keep_going = keep_going
        self._prompt = prompt
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._history = History()
        self._states = RandomStates()
        self._buffers = Buffers()
        self._dealer = Dealer()
        self._late = LateSentinel()
        self._random: RandomState | None = None
        self._after_step: tuple[RandomState, tuple[int, ...]] | None = None
        self._tick = 0
        self._steps_since_deal: dict[int, int] = {}
        self._deals_since_step: dict[int, int] = {}
        self._backward: Site = Site(())
        self._backward_from: tuple[int, int] | None = None
        self._versions: dict[int, list[int]] = {}
        self._step_line: tuple[CodeType, int] | None = None
        self._loss: float | None = None
        self._loss_on_device: Tensor | None = None
        self._scaler: Any = None
        self._bad_scaled_losses = 0
        self._scaler_updates = 0
        self._replay: Replay | None = None
        self._replays = 0
        self._looked_for_generators = 0
        self._held: HeldBack | None = None
        self._poisoned = False

    def look_around(self) -> None:
        """Find what was built before the watch began (from code or in a notebook)."""
        self._buffers.add_existing()
        for thing in gc.get_objects():
            if is_a(thing, torch.optim.Optimizer):
                self._optimizers.add(thing)
        self._random = self._states.take()

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
        self._states.find_generators(sys._getframe(2))
        self._random = self._states.take()

    @harmless
    def module_with_buffers(self, module: Any) -> None:
        if module._buffers:
            self._buffers.add(module)

    @harmless
    def indices_drawn(self, iterator: Any, indices: Any) -> None:
        self._dealer.of(iterator).indices.append(indices)

    @harmless
    def loader_reset(self, iterator: Any) -> None:
        dealt = self._dealer.of(iterator)
        dealt.indices.clear()
        dealt.ended = False
        dealt.count = dealt.samples = 0

    @harmless
    def loader_ended(self, iterator: Any) -> None:
        self._dealer.of(iterator).ended = True

    @harmless
    def dealt(self, iterator: Any, batch: Any) -> None:
        dealt = self._dealer.of(iterator)
        self._tick += 1
        dealt.tick_before, dealt.tick = dealt.tick, self._tick
        dealt.count += 1
        self._random = self._states.take()
        self._buffers.take()
        indices = dealt.indices.popleft() if dealt.indices else None
        one = Batch(batch, indices, dealt.count - 1, self._random, _line_of(sys._getframe(2)))
        if indices is None:
            _, first = next(one.tensors(), ("", None))
            one.samples_before = dealt.samples if dealt.in_order else None
            dealt.samples += len(first) if first is not None and first.dim() else 1
        dealt.recent.append(one)
        self._steps_since_deal.clear()
        for optimizer in self._deals_since_step:
            self._deals_since_step[optimizer] += 1

    def again(self, iterator: Any) -> tuple[bool, Any]:
        batch = self._next_again(iterator) if self._replay is not None else None
        return (True, batch.content) if batch is not None else (False, None)

    @harmless
    def _next_again(self, iterator: Any) -> Batch | None:
        if self._replay is None:
            return None
        dealt = self._dealer.of(iterator)
        if not dealt.again:
            return None
        batch = dealt.again.popleft()
        self._replay.start(batch.random)
        return batch

    # The backward pass

    @harmless
    def backward_begins(self, tensors: Any) -> None:
        roots = tuple(tensors) if isinstance(tensors, list | tuple) else (tensors,)
        self._note_backward(users_frame(sys._getframe(2)))
        if self._looked_for_generators < LOOKS_FOR_GENERATORS:
            self._looked_for_generators += 1
            self._states.find_generators(sys._getframe(2))
        self._loss = self._read_loss(roots)
        if self._replay is not None and self._replay.running:
            bad = [root for root in roots if is_bad(sentinel.scalar(root))]
            if bad:
                self._conclude(bad, "loss")
            elif self._replay.suspect is not None and self._replay.suspects_line is None:
                self._replay.suspects_line = graph.place_in(self._replay.trace, roots[0], self._replay.suspect)
        elif self._loss is not None:
            self._heard_loss(self._loss, roots)

    def _note_backward(self, frame: FrameType | None) -> None:
        """Remember where backward was called. In a steady loop it is the same frame and instruction every time."""
        here = (id(frame), frame.f_lasti) if frame is not None else None
        if here != self._backward_from:
            self._backward_from = here
            self._backward = site()

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
        if self._scaler is not None:
            self._bad_scaled_losses = self._bad_scaled_losses + 1 if is_bad(loss) else 0
            return
        if not is_bad(loss):
            self._history.losses.append((self.step, loss))
        elif self._replay is None:
            self._trouble("loss", loss)
            self._ask_the_graph(roots)

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
        if bad or self._replay is not None:
            for parameter in leaves:
                if parameter.grad is not None:
                    parameter.grad.detach().zero_()
            return
        self._step_done()
        self._step_starts()

    def _parameters(self, tensors: Any = ()) -> list[Tensor]:
        """All parameters that optimisers hold; without an optimiser, the leaves below these tensors."""
        if self._optimizers:
            return [p for optimizer in self._optimizers for p in sentinel.parameters_of(optimizer)]
        return diagnose.leaves_below(tensors)

    # The optimiser's step

    @harmless
    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if id(optimizer) not in self._versions:
            self._optimizers.add(optimizer)
        self._step_line = _line_of(sys._getframe(2))
        if len(args) > 1 or kwargs:
            closure = kwargs.get("closure") or next((a for a in args[1:] if callable(a)), None)
            if closure is not None:
                return self._with_checked_closure(optimizer, closure, args, kwargs)
        if "found_inf" in optimizer.__dict__:
            return None
        parameters = sentinel.parameters_of(optimizer)
        if self._replay is None and self._bad_scaled_losses:
            # The scaler lets the step through: the gradients are finite although their loss is not.
            self._bad_scaled_losses = 0
            self._trouble("loss", self._loss if self._loss is not None else math.nan, optimizer)
        if self._replay is None:
            self._check_gradients(optimizer, parameters)
        if self._replay is not None:
            self._step_of_replay(optimizer, parameters)
        elif self._poisoned:
            self._poisoned = False
            self._hold_back(parameters)
        return None

    def _check_gradients(self, optimizer: Any, parameters: list[Tensor]) -> None:
        gradients = sentinel.gradients_of(parameters)
        if not gradients:
            return
        if not self._reads_at_once(gradients[0]):
            self._check_late(optimizer, parameters, gradients)
            return
        norm = sentinel.total_norm(gradients)
        if math.isfinite(norm) or not sentinel.bad_parameters(parameters):
            self._history.gradient_norms.append((self.step, norm))
            self._wrote(self.step, math.nan if self._loss is None else self._loss, norm)
        elif not self._poisoned:
            self._trouble("gradient", norm, optimizer)

    def _check_late(self, optimizer: Any, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        reading = self._late.read()
        if reading is not None:
            self._wrote(reading.step, reading.loss, reading.gradient_norm)
            if not math.isfinite(reading.gradient_norm + reading.loss):
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
        """An optimiser that evaluates the loss itself: look at every evaluation, and repeat a bad one on the spot."""
        parameters = sentinel.parameters_of(optimizer)

        @wraps(closure)
        def checked() -> Any:
            random = self._states.take()
            result = closure()
            return self._after_closure(result, closure, optimizer, parameters, random)

        args = tuple(checked if a is closure else a for a in args)
        return args, {name: checked if value is closure else value for name, value in kwargs.items()}

    def _after_closure(self, result: Any, closure: Any, optimizer: Any, parameters: list[Tensor], random: Any) -> Any:
        bad = self._closure_went_bad(result, optimizer, parameters, random)
        if bad:
            closure()
            self._closure_again()
            for parameter in parameters:
                parameter.grad = None
            return torch.zeros(()) if isinstance(result, Tensor) else 0.0
        return result

    @harmless
    def _closure_went_bad(self, result: Any, optimizer: Any, parameters: list[Tensor], random: Any) -> bool:
        loss = sentinel.scalar(result) if isinstance(result, Tensor) else result
        norm = sentinel.total_norm(sentinel.gradients_of(parameters))
        if not self._poisoned and (is_bad(loss) or (not math.isfinite(norm) and sentinel.bad_parameters(parameters))):
            if self._replay is None:
                self._trouble("loss" if is_bad(loss) else "gradient", norm, optimizer, arrange=False)
            if self._replay is not None:
                self._replay.start(random)
                return True
        else:
            self._history.gradient_norms.append((self.step, norm))
        return False

    @harmless
    def _closure_again(self) -> None:
        if self._replay is not None:
            self._give_up("the closure gave finite values when called again")
        self._poisoned = False

    @harmless
    def step_ended(self, optimizer: Any) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.give_back()
        elif self._replay is None:
            self._step_done()
            which = id(optimizer)
            self._steps_since_deal[which] = self._steps_since_deal.get(which, 0) + 1
            self._deals_since_step[which] = 0
            if self._tick:
                self._dealer.forget()
            self._versions[which] = [p._version for group in optimizer.param_groups for p in group["params"]]
        if self._replay is None and (not self._tick or self._steps_since_deal.get(id(optimizer), 0) > 1):
            self._step_starts()
        if self._replay is not None and not self._replay.running and self._replay.way == "next step":
            self._replay.start()

    def _step_done(self) -> None:
        self.step += 1
        self._buffers.settle()

    def _step_starts(self) -> None:
        """A loop without a loader: what the next round starts from is what the last step left behind."""
        if len(self._optimizers) > 1:
            lines = lines_now()
            if self._after_step is None or lines <= self._after_step[1]:
                self._random = self._after_step[0] if self._after_step else self._random
            self._after_step = (self._states.take(), lines)
        else:
            self._random = self._states.take()
        self._buffers.take()

    # Gradient scalers

    @harmless
    def loss_scaled(self, scaler: Any) -> None:
        if scaler.is_enabled():
            self._scaler = scaler

    @harmless
    def scaler_updates(self, scaler: Any) -> None:
        """A scaler that skips a step and halves its scale does its job; one that skips at a scale of 1 never will."""
        self._scaler_updates += 1
        if not scaler.is_enabled() or scaler._scale is None or not _on_cpu_or_due(scaler, self._scaler_updates):
            return
        skipped = any(
            bool(found)
            for state in scaler._per_optimizer_states.values()
            for found in state["found_inf_per_device"].values()
        )
        if self._replay is not None:
            self._replay.steps += 1
            if self._replay.exhausted:
                self._give_up("the gradients were finite when the step was repeated")
            return
        hopeless = scaler.get_scale() <= 1.0 or self._bad_scaled_losses >= BAD_SCALED_LOSSES
        if skipped and hopeless:
            self._bad_scaled_losses = 0
            self._trouble("scale", scaler.get_scale())

    # Trouble, replay, verdict

    def _trouble(
        self, symptom: Any, value: float, optimizer: Any = None, window: int = 0, arrange: bool = True
    ) -> None:
        self._replays += 1
        if self._replays > REPLAYS:
            self._poisoned = symptom != "scale"
            self.skipped += 1
            return
        window = window or self._deals_since_step.get(id(optimizer), 1)
        line = self._backward.innermost()
        place = place_of(*line) if line is not None else None
        trouble = Trouble(symptom, self.step, value, self._backward, place, optimizer, max(window, 1))
        updated = self._last_written_by_an_optimizer()
        finding = diagnose.spoilt_weights(updated, trouble, self._history, self._step_line, self._optimizers)
        if finding is not None:
            self._settle(finding, symptom)
            return
        self._replay = Replay(trouble, self._start_of_round(), self._buffers, self._birth, self._parameters)
        if arrange:
            stale = self._steps_since_deal.get(id(optimizer), 0) if optimizer is not None else 0
            looping = stale > 0 or max(self._steps_since_deal.values(), default=0) > 1
            self._replay.arrange([] if looping or not self._tick else self._dealer.current())

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

    def _start_of_round(self) -> RandomState | None:
        if self._after_step is not None and self._backward.lines <= self._after_step[1]:
            return self._after_step[0]
        return self._random

    def _birth(self, op: Any, args: Any, kwargs: Any, output: Tensor) -> None:
        replay = self._replay
        if replay is not None:
            inputs = [tensor for _, tensor in inputs_of(op.name, args, kwargs)[0]]
            birth = Birth(op, inputs, args, kwargs, output, replay.trace, self._history)
            op.notes["verdict"] = checks.verdict(birth)

    def _step_of_replay(self, optimizer: Any, parameters: list[Tensor]) -> None:
        replay = self._replay
        assert replay is not None
        if replay.running:
            bad = sentinel.bad_parameters(parameters)
            if bad:
                self._conclude(bad, "gradient")
                return
            if replay.trouble.optimizer in (None, optimizer):
                replay.steps += 1
            if replay.exhausted:
                self._give_up("the same step gave finite values when it was repeated")
                return
        else:
            replay.waited += 1
            if replay.waited > len(self._optimizers) + 1:
                replay.way = "next step"
        self._hold_back(parameters)

    def _hold_back(self, parameters: list[Tensor]) -> None:
        self._held = HeldBack(parameters)

    def _conclude(self, bad: list[Tensor], seen_in: Literal["loss", "gradient"]) -> None:
        """`bad` are the losses, or the parameters whose gradients, were seen to be non-finite under the trace."""
        replay = self._replay
        assert replay is not None
        replay.stop()
        self._replay = None
        symptom = diagnose.Symptom(seen_in, bad, self._backward.innermost())
        finding = diagnose.finding(replay, symptom, self._history, self._dealer)
        self._settle(finding, replay.trouble.symptom)

    def _give_up(self, why: str) -> None:
        replay = self._replay
        assert replay is not None
        replay.stop()
        self._replay = None
        self._settle(diagnose.not_seen_again(replay, why, self._history), replay.trouble.symptom, poisoned=False)

    def _settle(self, finding: Finding, symptom: str, poisoned: bool = True) -> None:
        if not self._deliver(finding):
            self.off = True
        elif poisoned and symptom != "scale":
            self._poisoned = True
            self.skipped += 1


def _line_of(frame: Any) -> tuple[CodeType, int] | None:
    frame = users_frame(frame)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def _on_cpu_or_due(scaler: Any, updates: int) -> bool:
    """Reading a scale on an accelerator waits for it, so there it is read only now and then."""
    return scaler._scale.device.type == "cpu" or updates % 64 == 0
