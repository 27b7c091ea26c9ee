"""Keras on JAX: what is compiled beside a training step gives the few numbers and arrays that the rules need."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import keras
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from keras.src.backend import get_keras_mask, set_keras_mask

from sleuth.findings import Place
from sleuth.live.jax import differentiated, jitted, looks, stepping, tracing
from sleuth.live.jax.listing import Op, compiled
from sleuth.live.jax.recipe import Recipe
from sleuth.live.jax.recorder import Recorder
from sleuth.live.jax.sights import Gatherer, Sight
from sleuth.live.keras import losses, making
from sleuth.live.keras.epochs import Epochs
from sleuth.live.keras.losses import Head, Heard
from sleuth.live.keras.trainings import Purse, Trainings
from sleuth.live.signals import Look, LossLook, Run
from sleuth.program import place_of

_OURS = "sleuth"


class OnJax:
    """One training."""

    def __init__(
        self, model: Any, watch: Any, fit_line: making.Line | None, purse: Purse, trainings: Trainings
    ) -> None:
        self.model, self.optimizer, self._watch, self._fit_line = model, model.optimizer, watch, fit_line
        self._trainings = trainings
        self._layers = making.layers(model)
        self._applied: list[tuple[Any, Any, Any]] = []
        self._heard: list[Heard] = []
        self._count = 0
        self._function: Any = None
        self._frozen = bool(model.variables) and not model.trainable_variables
        optimizer = model.optimizer
        self.recorder = Recorder(
            watch,
            making.place(optimizer) or self.fit_place,
            type(optimizer).__name__,
            making.settings(optimizer),
            lambda step: _rate(self.optimizer, step),
            _AsFunctions(optimizer, model),
            self._relocate,
            tuple(making.name_of(v) for v in model.trainable_variables),
        )
        self.recorder.signals.usual_rate = making.usual_rate(optimizer)
        self.recorder.bench.first_weights([np.array(v) for v in model.trainable_variables])
        self.run.loader_made = self.fit_place
        self._epochs = Epochs(self.run, self.fit_place, watch.host.put)

    @property
    def run(self) -> Run:
        return self.recorder.run

    @property
    def off(self) -> bool:
        return self.recorder.off

    @property
    def steps(self) -> int:
        return self._count

    @property
    def fit_place(self) -> Place | None:
        return place_of(*self._fit_line) if self._fit_line is not None else None

    def made(self, function: Any) -> bool:
        """Is this the function for a step that was made for this training?"""
        return function is not None and function is self._function

    def make_function(self, make: Callable[[], Any]) -> None:
        """Have `make` build the model's function for a step, around a step of ours."""
        model, step = self.model, self.model.train_step

        def train_step(state: Any, data: Any) -> Any:
            return self._traced(step, state, data)

        object.__setattr__(model, "train_step", train_step)
        try:
            with _compiling_as_told():
                make()
        finally:
            del model.__dict__["train_step"]
        function = model.train_function

        def train_function(state: Any, iterator: Any) -> Any:
            logs, after = function(state, _Tapped(iterator, self._dealt))
            self._left()
            return logs, after

        self._function = model.train_function = train_function

    def end(self, error: BaseException | None) -> None:
        self.recorder.finish(error)
        self.model = self.optimizer = self._function = None

    # In the trace

    def _traced(self, step: Any, state: Any, data: Any) -> Any:
        """What is seen in this trace is ours to tell, whoever gathers it. In the trace of the program's own function
        nobody does, and it is left as it is."""
        gatherer, is_clean = tracing.gatherer(), tracing.is_clean()
        if self.off or (gatherer is None and not is_clean):
            tracing.note_training()
            return step(state, data)
        self._applied.clear()
        self._heard.clear()
        self._trainings.enter(self)
        trace = tracing.current()
        try:
            with tracing.gathering(Gatherer(trace), tracing.here.whole):
                result = step(state, data)
                with self._harmless():
                    sight = self._sight()
                    if sight is not None and gatherer is not None:
                        gatherer.sights.append(sight)
                    elif sight is not None:
                        self.arrived(sight)
        finally:
            self._trainings.leave()
            differentiated.forget(trace)
        return result

    def applied(self, given: Any, before: Any, after: Any) -> None:
        """An optimiser has used these gradients."""
        self._applied.append((list(given), list(before), list(after)))

    def loss_called(self, loss: Any, call: Any, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        """A loss is asked for its value, by `call`: what it is given and gives bears a name in the jaxpr. To the
        compiler a name is nothing."""
        heard = Heard(loss, y_true, y_pred, sample_weight, None, get_keras_mask(y_pred))
        number = len(self._heard)
        self._heard.append(heard)
        given = y_true, y_pred, sample_weight
        with self._harmless():
            given = self._marked(heard, number)
        result = call(loss, *given)
        heard.result = result if heard.is_nested else _named(result, number, "result")
        return heard.result

    @staticmethod
    def _marked(heard: Heard, number: int) -> tuple[Any, Any, Any]:
        if heard.is_nested:
            return heard.y_true, heard.y_pred, heard.sample_weight
        y_true, y_pred = _named(heard.y_true, number, "y_true"), _named(heard.y_pred, number, "y_pred")
        if heard.mask is not None:
            set_keras_mask(y_pred, _named(heard.mask, number, "mask"))
        weights = heard.sample_weight
        return y_true, y_pred, None if weights is None else _named(weights, number, "sample_weight")

    def _sight(self) -> Sight | None:
        if len(self._applied) != 1 or self._frozen:
            return None
        given, before, after = self._applied[0]
        found = differentiated.behind(given)
        call, fresh = found if found is not None else (None, None)
        updates = [b - a for a, b in zip(before, after, strict=True)]
        row = stepping.row(0, call.value if call is not None else None, given, fresh, updates)
        self.recorder.step_place = self.recorder.run.backward_place
        sight = Sight(self, row, has_loss=call is not None)
        if call is None:
            return sight
        if call.forward is None:
            # The loss is read once more, and tells its parts anew.
            self._heard.clear()
        sight.variant, sight.moving = self.recorder.variant(call, fresh)
        if sight.variant.recipe.plan is None:
            heard = list(self._heard)
            sight.variant.recipe.plan = KerasPlan(
                sight.variant.recipe, self.model, heard, self.fit_place, self._layer_line
            )
        return sight

    def _relocate(self, op: Op) -> making.Line | None:
        """A layer of Keras's own does its work at the line that made it, not at the one that called fit."""
        if op.line is not None and op.line != self._fit_line:
            return op.line
        return self._layer_line(op) or self._fit_line

    def _layer_line(self, op: Op) -> making.Line | None:
        """Where the layer that an operation belongs to was made."""
        for part in reversed(op.scope.replace("(", "/").replace(")", "/").split("/")):
            if part in self._layers and (line := making.line(self._layers[part])) is not None:
                return line
        return None

    # Between the steps

    def _dealt(self, data: Any) -> None:
        if not self.off:
            with self._harmless():
                self._epochs.dealt(keras.utils.unpack_x_y_sample_weight(data)[1])

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """An error of ours is said once, and the training goes on."""
        try:
            yield
        except Exception as error:
            self.recorder.fail(error)

    def epoch_ended(self, logs: dict[str, Any]) -> None:
        self.recorder.read()
        self._epochs.ended(self._count, logs)

    def arrived(self, sight: Sight) -> None:
        self.recorder.step(sight)

    def _left(self) -> None:
        step = self._count + self.model.steps_per_execution - 1
        self._count = step + 1
        if self.off:
            return
        if self._frozen:
            with self._harmless():
                self._nothing_to_train(step)
        if self.recorder.told_bad and not self._watch.host.went_bad:
            self._watch.host.stand_down()

    def _nothing_to_train(self, step: int) -> None:
        signals = self.recorder.signals
        signals.parameters = signals.frozen = len(self.model.variables)
        signals.steps += 1
        numbers = {"kind": "none", "above": False, "optimizer": 0}
        self.run.facts.note("step without gradients", step, self.fit_place, numbers=numbers)
        self.run.step, self.run.backwards = step + 1, self.run.backwards + 1
        self.recorder.judge.stepped()


@contextmanager
def _compiling_as_told() -> Iterator[None]:
    """Keras knows `jax.jit` by a name of its own."""
    keras_on_jax: Any = sys.modules[making.class_with("make_train_function").__module__]
    before = keras_on_jax.jit
    if before is differentiated.original("jit"):
        keras_on_jax.jit = jitted.telling()
    try:
        yield
    finally:
        keras_on_jax.jit = before


class KerasPlan(looks.Plan):
    """What of a Keras model's loss is to be looked at: the losses are known by their objects."""

    def __init__(
        self,
        recipe: Recipe,
        model: Any,
        heard: list[Heard],
        place: Place | None,
        layer_line: Callable[[Op], making.Line | None],
    ) -> None:
        super().__init__(recipe)
        self._layer_line = layer_line
        self._model, self._heard, self._place = model, heard, place
        self._pairs, self._dropouts = making.linear_stack(model), making.dropouts(model)
        self._marks = {mark: op.inputs[0] for op in self.listing.ops if (mark := _mark(op)) is not None}
        self._leaves = (
            [self.listing.leaves[i] for i in recipe.weights]
            if any(v.regularizer for v in model.trainable_variables)
            else []
        )
        self.losses = []
        self.wanted = sorted(
            {i for op, _ in self.activations for i in (op.outputs[0], op.inputs[0])}
            | set(self._marks.values())
            | set(self._leaves)
        )
        self.run = compiled(self.listing, self.wanted)

    def about_layers(self, look: Look) -> None:
        look.linear_pairs, look.dropouts = self._pairs, self._dropouts
        look.nonlinearities = 0 if self._pairs else 1

    def loss_looks(self, values: dict[int, Any], total: float) -> list[LossLook]:
        calls = [self._call(number, one, values) for number, one in enumerate(self._heard)]
        heads = [self._head(number) for number in range(len(calls))]
        known = [(one, head) for one, head in zip(calls, heads, strict=True) if one is not None]
        if len(known) < len(calls):
            return []
        penalty, penalty_at = (
            making.penalty(self._model, [values[i] for i in self._leaves]) if self._leaves else (0.0, None)
        )
        return losses.looks(calls, heads, total, penalty, penalty_at, self._place)  # type: ignore[arg-type]

    def _call(self, number: int, heard: Heard, values: dict[int, Any]) -> Heard | None:
        """With numbers for tracers; None where the compiler needs it not, so that it is not there."""
        if heard.is_nested:
            return heard
        parts: dict[str, Any] = {}
        for part in ("y_true", "y_pred", "sample_weight", "result", "mask"):
            mark = self._marks.get(f"{_OURS}/{number}/{part}")
            parts[part] = values[mark] if mark is not None else None
            if mark is None and getattr(heard, part) is not None:
                return None
        return Heard(heard.loss, **parts)

    def _head(self, number: int) -> Head:
        mark = self._marks.get(f"{_OURS}/{number}/y_pred")
        if mark is None:
            return Head()
        made, place = looks.made_by(self, mark)
        op = self.listing.makers.get(mark)
        line = self._layer_line(op) if op is not None else None
        return Head(made, place_of(*line) if line is not None else place, -1)


class _Tapped:
    """An iterator over batches that shows each to someone first."""

    def __init__(self, batches: Any, show: Callable[[Any], object]) -> None:
        self._batches, self._show = batches, show

    def __iter__(self) -> _Tapped:
        return self

    def __next__(self) -> Any:
        data = next(self._batches)
        self._show(data)
        return data


def _named(value: Any, number: int, part: str) -> Any:
    return checkpoint_name(jax.numpy.asarray(value), f"{_OURS}/{number}/{part}")


def _mark(op: Op) -> str | None:
    name = op.params.get("name") if op.name == "name" else None
    return name if isinstance(name, str) and name.startswith(f"{_OURS}/") else None


def _rate(optimizer: Any, step: int) -> float:
    schedule: Any = getattr(optimizer, "_learning_rate", None)
    try:
        return float(schedule(step)) if callable(schedule) else float(np.asarray(schedule.value))
    except Exception:
        return math.nan


class _AsFunctions:
    """A Keras optimiser as the pair (init, update) that experiments use."""

    def __init__(self, optimizer: Any, model: Any) -> None:
        self._optimizer = optimizer
        if not optimizer.built:
            optimizer.build(model.trainable_variables)
        self._first = [np.array(v) for v in optimizer.variables]

    def init(self, weights: Any) -> Any:
        return [jax.numpy.asarray(value) for value in self._first]

    def update(self, gradients: Any, state: Any, weights: Any) -> tuple[Any, Any]:
        after, state = self._optimizer.stateless_apply(state, list(gradients), list(weights))
        return [b - a for a, b in zip(weights, after, strict=True)], state
