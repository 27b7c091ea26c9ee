"""Keras on torch: its optimisers, losses and layers are not torch's; each training has a listener that knows them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
import torch
from torch import Tensor

from sleuth.findings import Place
from sleuth.live.harmless import harmless
from sleuth.live.keras import heads, losses, making
from sleuth.live.keras.epochs import Epochs
from sleuth.live.keras.laboratory import Bench
from sleuth.live.keras.losses import Head, Heard
from sleuth.live.keras.trainings import Purse
from sleuth.live.learning.inspection import Call, back
from sleuth.live.learning.listener import Learning
from sleuth.live.learning.looks import LINEAR, Lookout, input_look
from sleuth.program import place_of

# A schedule is asked for its rate at the first steps, then now and then.
_RATES_AT_FIRST, _RATES_EVERY = 32, 16


class StandIn:
    """A Keras optimiser in the form that the listeners know."""

    def __init__(self, optimizer: Any, variables: list[Any]) -> None:
        self.of = optimizer
        self.state: dict[Any, Any] = {}
        settings = making.settings(optimizer)
        self.weights = [v.value for v in variables]
        self.param_groups = [{"params": self.weights, "lr": 0.0, **settings}]
        self._asked = 0

    def learn_rate(self) -> None:
        rate = self.of._learning_rate
        self._asked += 1
        if isinstance(rate, keras.Variable):
            self.param_groups[0]["lr"] = float(rate.value)
        elif self._asked <= _RATES_AT_FIRST or self._asked % _RATES_EVERY == 0:
            self.param_groups[0]["lr"] = float(keras.ops.convert_to_numpy(self.of.learning_rate))


def stand_in(optimizer: Any, variables: list[Any]) -> StandIn:
    """Under the name of what it stands for."""
    kind: Any = type(type(optimizer).__name__, (StandIn,), {})
    made: StandIn = kind(optimizer, variables)
    return made


class OnTorch(Learning):
    """One training. Between `begin_step` and `end_step` it hears what the listener for torch hears otherwise."""

    def __init__(self, model: Any, watch: Any, fit_line: making.Line | None, purse: Purse) -> None:
        super().__init__(watch.tell, watch.failed, watch.put, watch.expectations, 0.0)
        self.model, self.optimizer, self.fit_line = model, model.optimizer, fit_line
        self._watch = watch
        self._both = watch.torch_listener
        self.muted = self._both.muted
        self.loss_lines = watch._story.loss_lines
        self._look_closely = self.lookout = KerasLookout(self)
        self._laboratory = Bench(model, self.run, purse)
        self.bench: Any = self._laboratory
        self.run.laboratory = self._laboratory
        self.run.loader_made = self.fit_place
        self._epochs = Epochs(self.run, self.fit_place, watch.put)
        self.heard_losses: list[Heard] = []
        self.data: Any = None
        self._stand_ins: dict[int, StandIn] = {}
        self._in_step = self._stepped = False
        self._lines()
        # Whatever its steps will be made with: they are no steps by hand.
        self._whole = stand_in(model, model.trainable_variables)
        watch._story.optimizer_made(self._whole)
        self.look_at_the_first_step()

    @property
    def fit_place(self) -> Place | None:
        return place_of(*self.fit_line) if self.fit_line is not None else None

    @property
    def steps(self) -> int:
        return self.run.step

    def _lines(self) -> None:
        for layer in making.layers(self.model).values():
            self._note(layer, making.line(layer))
        for variable in self.model.variables:
            self.names.tell(variable.value, making.name_of(variable), making.owner_of(variable, self.model))

    def _note(self, thing: Any, line: making.Line | None) -> None:
        if line is not None:
            self.making._made[thing] = (line, self.making.count)

    # A step of the model

    @contextmanager
    def step(self, data: Any) -> Iterator[None]:
        with self._both.taught_by(self):
            self._begin_step(data)
            try:
                yield
            finally:
                self._end_step()

    @harmless
    def _begin_step(self, data: Any) -> None:
        self.data = keras.utils.unpack_x_y_sample_weight(data[0]) if len(data) == 1 else (None, None, None)
        self._in_step, self._stepped = True, False
        self.heard_losses.clear()
        self._epochs.dealt(self.data[1])
        scale = getattr(self.model.optimizer, "dynamic_scale", None)
        if scale is not None:
            self.run.scaled, self._scale = True, float(scale.value)
        if self._looking:
            self.lookout.begin(self.run.step)
            self.inspection.start()

    @harmless
    def _end_step(self) -> None:
        if not self._stepped and not self.model.trainable_variables and self.model.variables:
            self._nothing_to_train()
        self._in_step = False
        self.inspection.stop()
        self.heard_losses.clear()
        self.data = None

    def start_looking(self) -> None:
        if self._may_inspect and not self.off:
            self._looking = True
            self.lookout.begin(self.run.step)
            self._cut, self._leaves, self._no_grad_lines = [], [], []
            self._backwards_in_look = 0
            if self._in_step:
                self.inspection.start()

    def _nothing_to_train(self) -> None:
        """Keras spares itself the backward pass and the update, which would reach nothing."""
        self.run.backwards += 1
        weights = [v for v in self.model.variables if isinstance(v.value, torch.nn.Parameter)]
        held = self._stand_in(self.optimizer, weights)
        held.learn_rate()
        self._both.step_begins(held, (), {})
        self._both.step_ended(held)

    def applied(self, optimizer: Any, apply: Any, grads: Any, variables: Any) -> Any:
        """An optimiser of Keras's is about to use these gradients: `apply` has it do so."""
        held = self._begin_update(optimizer, grads, variables)
        if held is None:
            return apply()
        with lent(grads, variables):
            self._both.step_begins(held, (), {})
            if self._watch._story.holds_back:
                self._both.step_ended(held)
                return None
        result = apply()
        with lent(grads, variables):
            self._both.step_ended(held)
        return result

    @harmless
    def _begin_update(self, optimizer: Any, grads: Any, variables: Any) -> StandIn | None:
        self._stepped = True
        held = self._stand_in(optimizer, variables)
        held.learn_rate()
        return held

    def _stand_in(self, optimizer: Any, variables: list[Any]) -> StandIn:
        found = self._stand_ins.get(id(optimizer))
        if found is None or len(found.weights) != len(variables):
            found = self._stand_ins[id(optimizer)] = stand_in(optimizer, variables)
            line = making.line(optimizer) or self.fit_line
            self._both.optimizer_made(found)
            self._note(found, line)
            held = self.holding.get(id(found))
            if held is not None:
                held.signals.made = place_of(*line) if line is not None else None
                held.signals.usual_rate = making.usual_rate(optimizer)
        return found

    def _note_orphans(self, held: Any, parameters: list[Tensor]) -> None:
        """Keras gathers the weights of a model by itself: what it leaves out, it was told to."""
        signals, leaves = held.signals, {id(leaf) for leaf in self._leaves}
        signals.parameters = len(parameters)
        signals.frozen = sum(not p.requires_grad for p in parameters)
        signals.in_graph = max(signals.in_graph, sum(id(p) in leaves for p in parameters))
        signals.with_gradient = max(signals.with_gradient, sum(p.grad is not None for p in parameters))

    # What else is told

    @harmless
    def loss_called(self, heard: Heard) -> None:
        if self._looking and self._in_step and (heard.result is None or heard.result.requires_grad):
            self.heard_losses.append(heard)
            if heard.result is None:
                self._look_closely.loss_raised()
        if heard.result is None and not heard.is_nested:
            self._watch._story.refused([heard.y_pred])

    @harmless
    def epoch_ended(self, logs: dict[str, Any]) -> None:
        self._epochs.ended(self.run.step, logs)

    def end(self, error: BaseException | None) -> None:
        bad = self._watch.went_bad
        self.finish(None if bad else self._watch.crash, bad)
        self._laboratory.close()
        self.model = self.optimizer = None


@contextmanager
def lent(grads: Any, variables: Any) -> Iterator[None]:
    """The listeners find gradients on the weights, whoever computed them: for a moment they are there."""
    pairs = [(v.value, g) for v, g in zip(variables, grads, strict=False) if isinstance(g, Tensor)]
    borrowed = [(w, g, w.grad) for w, g in pairs if w.grad is not g and _alike(w, g)]
    for weight, gradient, _ in borrowed:
        weight.grad = gradient
    try:
        yield
    finally:
        for weight, _, before in borrowed:
            weight.grad = before


def _alike(weight: Tensor, gradient: Tensor) -> bool:
    return (weight.shape, weight.dtype, weight.device) == (gradient.shape, gradient.dtype, gradient.device)


class KerasLookout(Lookout):
    """A close look at a step of a Keras model."""

    def __init__(self, training: OnTorch) -> None:
        super().__init__(training.making, training.name)
        self._training = training

    @property
    def data(self) -> Any:
        """The batch of the step: inputs, labels and weights of the samples."""
        return self._training.data

    def saw(self, call: Call, args: Any, kwargs: Any, result: Any) -> None:
        if call.name in LINEAR and call.parameters and call.grad_enabled and not self.look.inputs:
            self._input(call, args)
        super().saw(call, args, kwargs, result)

    def _loss(self, call: Call, args: Any, kwargs: Any, result: Any) -> None:
        """What Keras's losses are made of is not the program's."""

    def _inputs(self, inspection: Any) -> None:
        """They were measured where the first layer with weights read them."""

    def _input(self, call: Call, args: Any) -> None:
        data = [a for a in args if isinstance(a, Tensor) and not isinstance(a, torch.nn.Parameter)]
        if len(data) == 1 and not data[0].requires_grad and data[0].is_floating_point() and data[0].dim() > 1:
            kind = "conv" if call.name.startswith("conv") else "linear"
            x = self.data[0]
            others = len(keras.tree.flatten(x)) - 1 if x is not None else 0
            self.look.inputs.append(input_look(data[0].detach(), kind, self._training.fit_place, others))

    def applied(self, call: Call) -> Place | None:
        if call.module is not None and (call.code is None or (call.code, call.instruction) == self._training.fit_line):
            return self._making.place(call.module) or call.place
        return call.place

    def _made(self, call: Call | None) -> Place | None:
        if call is None:
            return None
        return (self._making.place(call.module) if call.module is not None else None) or call.place

    def _layer_name(self, call: Call | None) -> str:
        if call is not None and call.parameters:
            return self._names(call.parameters[0]).rpartition(".")[0]
        return super()._layer_name(call)

    def differentiated(self, inspection: Any, root: Any, value: float) -> None:
        super().differentiated(inspection, root, value)
        self.look.nonlinearities = 0 if self.look.linear_pairs else 1
        self.look.dropouts = making.dropouts(self._training.model)
        self._note_losses(value)

    def _note_losses(self, total: float) -> None:
        training = self._training
        heard = list(training.heard_losses)
        penalty, penalty_at = making.penalty(training.model, training.model.trainable_variables)
        found = [self._head(one.y_pred) for one in heard]
        self.look.losses = losses.looks(heard, found, total, penalty, penalty_at, training.fit_place)

    def loss_raised(self) -> None:
        self._note_losses(math.nan)

    def _head(self, output: Any) -> Head:
        if not isinstance(output, Tensor):
            return Head()
        made_by, axis = heads.made_by(output)
        return Head(made_by, self._made(back(self._training.inspection.call_of(output))), axis)

    def _linear_pairs(self, inspection: Any) -> None:
        self.look.linear_pairs = making.linear_stack(self._training.model)

    def _units_first(self, weight: Tensor) -> Tensor:
        return weight.movedim(-1, 0) if weight.dim() > 1 else weight

    def _is_embedding(self, owner: Any) -> bool:
        return isinstance(owner, keras.layers.Embedding)
