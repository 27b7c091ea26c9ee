"""The re-created step: watches a program from its start, puts the bundle in place when its first training round begins,
and says whether the loss and the gradients of that round are finite.

Nothing is traced unless asked for, so compiled code stays compiled. No update is let through once the bundle is in
place."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any, Literal, NoReturn

import torch
from torch import Tensor
from torch.amp.grad_scaler import GradScaler
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from sleuth.findings import Finding, Place
from sleuth.frameworks import torch_private
from sleuth.live import graph, sentinel
from sleuth.live.bundle import census
from sleuth.live.bundle.format import Bundle
from sleuth.live.bundle.restore import Changed, Restorer, other_random_numbers
from sleuth.live.bundle.tracing import Tracer
from sleuth.live.bundle.variations import Variation
from sleuth.live.replay import ATTEMPTS, HeldBack, has_compiled
from sleuth.live.snapshot import RandomStates
from sleuth.live.taps import LOADER
from sleuth.live.wraps import Wraps, after, before
from sleuth.program import users_place

# A round that never comes to the recorded line is waited for this long.
_MOST_ROUNDS = 12
# How often the program's own batch may turn out to be the very one in the bundle.
_SAME_BATCHES = 3


def _guarded(method: Any) -> Any:
    """An error of ours ends the rehearsal and is told; it must not pass for an error of the program's."""

    @functools.wraps(method)
    def guarded(self: Rehearsal, *args: Any, **kwargs: Any) -> Any:
        if self.off or torch.compiler.is_dynamo_compiling():
            return None
        try:
            with self.tracer.paused() if self.tracer is not None else nullcontext():
                return method(self, *args, **kwargs)
        except Changed as change:
            return self.conclude("unreached", str(change))
        except Exception as error:
            return self.conclude("unreached", f"an error inside Sleuth: {type(error).__name__}: {error}")

    return guarded


class Rehearsal:
    """One variation. `conclude` ends the process."""

    def __init__(
        self, bundle: Bundle, variation: Variation, from_start: bool, conclude: Callable[..., NoReturn]
    ) -> None:
        content = bundle.content
        self.off = False
        self.tracer = Tracer(content["step"]) if variation.traced else None
        self._variation = variation
        self._conclude = conclude
        self._restorer = Restorer(bundle)
        self._symptom = content["symptom"]
        self._begins = content["begins"]
        self._random = content["random"]
        self._loaders = content["loaders"]
        self._optimizers_then = len(content["optimizers"])
        self._has_weights = content["weights"]
        # Without a loader a round begins where the step before it ended: the first such place, or the very same.
        self._steps_before = content["step"] if from_start else min(content["step"], max(1, self._optimizers_then))
        self._from_start = from_start
        self._deals_wanted = max(
            (min(len(loader["batches"]), self._symptom["batches"]) for loader in self._loaders), default=0
        )
        both_orders = any(len(loader["batches"]) > self._symptom["batches"] for loader in self._loaders)
        self._rounds_wanted = ATTEMPTS if both_orders and variation.batch else 1
        self._loader_of: dict[int, int] = {}
        self._iterators: list[Any] = []
        self._deals: dict[int, int] = {}
        self._states = RandomStates()
        self._loaded = False
        self._steps = 0
        self._rounds = 0
        self._rounds_seen = 0
        self._backward_seen = False
        self._backward_at: Place | None = None
        self._in_closure = False
        self._scaled = False
        self._optimizers: list[Any] = []
        self._stepped: set[int] = set()
        self._held: HeldBack | None = None

    def conclude(self, how: str, said: str, finding: Finding | None = None) -> NoReturn:
        self.off = True
        self._conclude(how, said, compiled=has_compiled(), finding=finding)

    def _went_bad(self, said: str, seen_in: Literal["loss", "gradient"], bad: list[Tensor]) -> NoReturn:
        named = None
        if self.tracer is not None:
            named = self.tracer.finding(seen_in, bad, self._backward_at)
        self.conclude("bad", said, named)

    def install(self) -> None:
        if self._variation.eager:
            torch.compiler.set_stance("force_eager")
        wrap = Wraps().wrap
        if torch_private.has(f"{LOADER}.__next__"):
            wrap(torch_private.get(LOADER), "__next__", self._around_next)
        wrap(torch.autograd, "backward", self._around_backward)
        wrap(Optimizer, "__init__", after(self._optimizer_made))
        wrap(GradScaler, "scale", before(self._loss_scaled))
        wrap(GradScaler, "update", before(self._scaler_updates))
        register_optimizer_step_pre_hook(self._step_begins)
        register_optimizer_step_post_hook(self._step_ended)

    def program_ended(self, error: BaseException | None) -> NoReturn:
        """The program ended before the verdict was in, or by the very exception that the bundle is about."""
        if isinstance(error, Exception):
            said = f"{type(error).__qualname__}: {(str(error).splitlines() or [''])[0]}".removesuffix(": ")
            if not self._loaded:
                self.conclude("unreached", f"before its first training step the program raised {said}")
            self.conclude("bad" if type(error).__qualname__ == self._symptom["error"] else "other error", said)
        if self._rounds:
            self.conclude("finite", "loss and gradients were finite")
        self.conclude("unreached", "the program ended before the step could be re-created")

    # The batches

    def _around_next(self, original: Any) -> Any:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            batch = original(iterator)
            frame = sys._getframe(1)
            which = self._which_loader(iterator, frame)
            return batch if which is None else self._dealt(which, iterator, batch, lambda: original(iterator), frame)

        return __next__

    @_guarded
    def _which_loader(self, iterator: Any, frame: FrameType) -> int | None:
        """The recorded loader this one stands for: dealt from the same line, in the same order, with gradients on."""
        if (self._begins == "step" and self._loaded) or not torch.is_grad_enabled():
            return None
        place = users_place(frame)
        fitting = [i for i, told in enumerate(self._loaders) if _same_place(told["place"], place) and told["batches"]]
        if not fitting:
            return None
        if id(iterator) not in self._loader_of:
            # Kept alive, lest another iterator gets the same identity.
            self._iterators.append(iterator)
            taken = sum(which in fitting for which in self._loader_of.values())
            self._loader_of[id(iterator)] = fitting[taken % len(fitting)]
        return self._loader_of[id(iterator)]

    def _dealt(self, which: int, iterator: Any, own: Any, another: Callable[[], Any], frame: FrameType) -> Any:
        told = self._loaders[which]["batches"]
        number = self._deals.get(which, 0)
        self._deals[which] = number + 1
        recorded = told[number % len(told)]
        if not self._variation.batch and self._begins == "deal":
            own = self._one_that_differs(own, told, another)
        batch = self._batch(recorded, own)
        if self.tracer is not None:
            self.tracer.dealt(iterator, batch, self._restorer.value(recorded["samples"]), number, frame)
        if self._begins == "deal":
            self._begin(recorded["random"], frame)
        return batch

    @_guarded
    def _batch(self, recorded: Any, own: Any) -> Any:
        return self._restorer.value(recorded["content"], own) if self._variation.batch else own

    def _one_that_differs(self, own: Any, told: list[Any], another: Callable[[], Any]) -> Any:
        for _ in range(_SAME_BATCHES):
            if not self._is_recorded(own, told):
                return own
            try:
                own = another()
            except StopIteration:
                break
        if self._is_recorded(own, told):
            self.conclude("unreached", "the program has no other batch")
        return own

    @_guarded
    def _is_recorded(self, own: Any, told: list[Any]) -> bool:
        return any(_equal(own, self._restorer.value(batch["content"], own)) for batch in told)

    # The moment the bundle is put in place

    @_guarded
    def _begin(self, random: Any, frame: FrameType) -> None:
        """A round begins: weights once, random numbers each time."""
        if not self._loaded:
            self._loaded = True
            self._states.find_generators(frame)
            here = census.take(frame)
            self._optimizers = here.optimizers
            if self._variation.weights and self._has_weights:
                self._restorer.weights(here)
            self._restorer.scalers(here)
            if not self._variation.random:
                other_random_numbers(self._states)
        if self._variation.random:
            self._restorer.random(random, self._states)
        if self.tracer is not None:
            self.tracer.start()

    def _optimizer_made(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        self._optimizers.append(optimizer)
        if self._begins == "optimizer" and len(self._optimizers) == self._optimizers_then and not self._loaded:
            self._begin(self._random, sys._getframe(2))

    # The backward pass

    def _around_backward(self, original: Any) -> Any:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            self._backward_begins(tensors, sys._getframe(1))
            result = original(tensors, *args, **kwargs)
            self._backward_ended(tensors, sys._getframe(1))
            return result

        return backward

    @_guarded
    def _backward_begins(self, tensors: Any, frame: FrameType) -> None:
        if not self._loaded:
            return
        roots = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        self._backward_seen |= _same_place(self._symptom["backward"], users_place(frame))
        self._backward_at = users_place(frame)
        bad = [root for root in roots if sentinel.is_bad(sentinel.scalar(root))]
        if bad:
            self._went_bad(f"the loss became {sentinel.scalar(bad[0]):g}", "loss", bad)

    @_guarded
    def _backward_ended(self, tensors: Any, frame: FrameType) -> None:
        by_hand = not self._optimizers
        parameters = graph.leaves_below(tensors) if by_hand else self._parameters()
        if self._loaded:
            # Under a scaler a gradient that overflows is no trouble, unless the bundle is about just that.
            if not self._scaled or self._symptom["kind"] == "scale":
                self._judge_gradients(parameters)
            if by_hand or self._in_closure:
                self._round_ended(None)
        elif by_hand and self._begins != "deal":
            self._steps += 1
            if self._steps >= self._steps_before:
                self._begin(self._random, frame)
                # What the program is about to subtract from its weights belongs to the round before.
                for parameter in parameters:
                    parameter.grad = None if parameter.grad is None else torch.zeros_like(parameter.grad)

    def _parameters(self) -> list[Tensor]:
        return [parameter for optimizer in self._optimizers for parameter in sentinel.parameters_of(optimizer)]

    def _judge_gradients(self, parameters: list[Tensor]) -> None:
        bad = sentinel.bad_parameters(parameters)
        if bad:
            nan = any(bool(torch.isnan(p.grad).any()) for p in bad if p.grad is not None)
            self._went_bad(f"a gradient became {'nan' if nan else 'inf'}", "gradient", bad)

    # The optimiser's step

    @_guarded
    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._loaded:
            if self._begins == "deal" and not self._from_start:
                self.conclude("unreached", f"the program took a step before it read a batch at {self._where()}")
            return
        if kwargs.get("closure") is not None or any(callable(argument) for argument in args[1:]):
            self._in_closure = True
            return
        parameters = sentinel.parameters_of(optimizer)
        if "found_inf" not in optimizer.__dict__:
            self._judge_gradients(parameters)
        self._round_ended(optimizer)
        self._held = HeldBack(parameters)

    def _where(self) -> str:
        place = next((loader["place"] for loader in self._loaders if loader["place"] is not None), None)
        return "the recorded line" if place is None else f"{place['path']}:{place['line']}"

    @_guarded
    def _step_ended(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.give_back()
        if not self._loaded:
            self._steps += 1
            if self._begins == "step" and self._steps >= self._steps_before:
                self._begin(self._random, sys._getframe(2))

    @_guarded
    def _loss_scaled(self, scaler: Any, *args: Any, **kwargs: Any) -> None:
        self._scaled |= bool(scaler.is_enabled())

    @_guarded
    def _scaler_updates(self, scaler: Any, *args: Any, **kwargs: Any) -> None:
        skipped = any(
            bool(found)
            for state in scaler._per_optimizer_states.values()
            for found in state["found_inf_per_device"].values()
        )
        if self._loaded and skipped:
            self._round_ended(None)

    def _round_ended(self, optimizer: Any) -> None:
        """A step is due and nothing was wrong: the verdict, if this was the step that the bundle is about."""
        self._rounds_seen += 1
        self._stepped.add(id(optimizer))
        all_dealt = self._begins != "deal" or max(self._deals.values(), default=0) >= self._deals_wanted
        if self._backward_seen and all_dealt and self._is_the_step(optimizer):
            self._rounds += 1
        done = self._rounds >= self._rounds_wanted
        if done or (self._rounds_seen >= _MOST_ROUNDS and self._backward_seen):
            self.conclude("finite", "loss and gradients were finite")
        if self._rounds_seen >= _MOST_ROUNDS:
            place = self._symptom["backward"] or {"path": "the recorded line", "line": "?"}
            self.conclude("unreached", f"{place['path']}:{place['line']} did not come in {_MOST_ROUNDS} steps")

    def _is_the_step(self, optimizer: Any) -> bool:
        """Of several optimisers: the one whose gradients were bad; after a bad loss, the last one of the round."""
        which = self._symptom["optimizer"]
        if optimizer is None or len(self._optimizers) < 2:
            return True
        if which is not None and which < len(self._optimizers):
            return optimizer is self._optimizers[which]
        return len(self._stepped) >= len(self._optimizers)


def _same_place(told: dict[str, Any] | None, here: Any) -> bool:
    """The same line of a file of the same name; or the same text, where the file was edited above it."""
    if told is None or here is None:
        return True
    if told["path"].rpartition("/")[2] != here.path.rpartition("/")[2]:
        return False
    return bool(told["line"] == here.line or (told["code"] and told["code"] == here.code))


def _equal(one: Any, other: Any) -> bool:
    """The same numbers, in the parts that hold numbers."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        same_shape = one.shape == other.shape
        return same_shape and bool(((one == other) | ((one != one) & (other != other))).all())
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if hasattr(one, "__dict__") and not callable(one):
        return _equal(vars(one), vars(other))
    return True
