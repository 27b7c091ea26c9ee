"""Keras on torch: its optimisers and layers are not torch's, so the listener for torch is told what it cannot see."""

from __future__ import annotations

from typing import Any

import keras

from sleuth.live.keras import making
from sleuth.live.keras.laboratory import Bench
from sleuth.live.keras.losses import look_at


def _as_torch(optimizer: Any, variables: list[Any]) -> Any:
    """A Keras optimiser in the form, and under the name, that the listener knows it by."""
    made = type(type(optimizer).__name__, (), {})()
    made.state = {}
    made.param_groups = [{"params": [v.value for v in variables], "lr": 0.0, **making.settings(optimizer)}]
    return made


class OnTorch:
    """Watches one `fit`."""

    def __init__(self, model: Any, watch: Any, fit_line: making.Line | None) -> None:
        self._model, self._watch, self._fit_line = model, watch, fit_line
        self._listener = watch.host.torch_listener
        self._learning = watch.host._learning
        self._optimizer = _as_torch(model.optimizer, model.trainable_variables)
        self._undo: list[Any] = []
        self._data: Any = None
        self.bench = Bench(model, self._learning.run, watch.host.experiments)

    def begin(self) -> None:
        model, learning = self._model, self._learning
        learning.run.laboratory = self.bench
        for layer in making.layers(model).values():
            self._made(layer, making.line(layer))
        for variable in model.trainable_variables:
            learning.names.tell(variable.value, making.name_of(variable), making.owner_of(variable, model))
        self._listener.optimizer_made(self._optimizer)
        self._made(self._optimizer, making.line(model.optimizer))
        held = learning.holding.get(id(self._optimizer))
        if held is not None:
            held.signals.made = making.place(model.optimizer)
        self._wrap(model.optimizer, "apply", self._around_apply)
        self._wrap(model, "compute_loss", self._around_loss)
        self._wrap(model, "train_step", self._around_step)
        inspection = learning.inspection
        before = inspection.on_call

        def on_call(one: Any, *rest: Any) -> None:
            if one.module is not None and (one.code, one.instruction) == self._fit_line:
                # Like a layer of torch's that a container calls: it stands where it was made.
                one.depth = 2
            before(one, *rest)

        inspection.on_call = on_call
        self._undo.append(lambda: setattr(inspection, "on_call", before))
        model.make_train_function(force=True)

    @property
    def went_bad(self) -> bool:
        return bool(self._watch.host.went_bad)

    def _made(self, thing: Any, line: making.Line | None) -> None:
        if line is not None:
            self._learning.making._made[thing] = (line, self._learning.making.count)

    def end(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._model.train_function = None

    def _wrap(self, owner: Any, name: str, around: Any) -> None:
        object.__setattr__(owner, name, around(getattr(owner, name)))
        self._undo.append(lambda: owner.__dict__.pop(name, None))

    def _around_step(self, step: Any) -> Any:
        def train_step(data: Any) -> Any:
            self._data = data
            return step(data)

        return train_step

    def _around_apply(self, apply: Any) -> Any:
        def told(grads: Any, trainable_variables: Any = None) -> Any:
            optimizer = self._model.optimizer
            variables = list(trainable_variables or self._model.trainable_variables)
            self._optimizer.param_groups[0]["lr"] = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
            had = [g is not None for g in grads]
            self._listener.step_begins(self._optimizer, (), {})
            if any(had) and all(v.value.grad is None for v in variables):
                return None  # held back: it would spoil the weights
            result = apply(grads, trainable_variables)
            self._listener.step_ended(self._optimizer)
            return result

        return told

    def _around_loss(self, compute_loss: Any) -> Any:
        def told(x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, **rest: Any) -> Any:
            loss = compute_loss(x, y, y_pred, sample_weight, **rest)
            learning = self._learning
            if learning.inspection.on and not learning.off:
                with learning.quietly():
                    found = look_at(self._model, y, y_pred, sample_weight, loss, self._fit_line)
                    if found is not None:
                        learning.lookout.look.losses.append(found)
                        self.bench.offer(self._data, float(loss.detach()))
            return loss

        return told
