"""A model too big to run here: its shapes go through Keras's symbolic calls, and the results are made up."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import keras
import numpy as np
from keras.src.backend import compute_output_spec

from sleuth.dry.keras import cost, losses
from sleuth.dry.keras.calls import tensors_in
from sleuth.dry.keras.fitting import Shorter
from sleuth.dry.keras.notes import Notes, dtype_of
from sleuth.dry.keras.shorter import rows_of
from sleuth.program import users_frame, users_place

_ASSUMED = 1.0


def affordable(notes: Notes, model: Any, shorter: Shorter) -> bool:
    """Can this be run with real numbers? Asked of a symbolic call of one batch, which also shows wrong shapes."""
    if notes.stage.fake:
        return False
    batch = _one_batch(shorter.options["x"], shorter.batch)
    if batch is None:
        return True
    notes.operations = 0
    try:
        compute_output_spec(model, batch, training=False)
    except Exception:  # the run itself will say so, with the error a user would see
        return True
    finally:
        operations, notes.operations = notes.operations or 0, None
        notes.failed = None
    batches = -(-(rows_of(shorter.options["x"]) or shorter.batch) // shorter.batch)
    epochs = shorter.options.get("epochs", 1) - shorter.options.get("initial_epoch", 0)
    layers = sum(1 for _ in model._flatten_layers())
    time_left = notes.stage.clock.left / notes.stage.clock.seconds
    return cost.affordable(operations * batches * epochs, layers, time_left)


def _one_batch(data: Any, size: int) -> Any:
    """The first batch as symbolic tensors; None for data that would be used up by asking."""
    if isinstance(data, keras.utils.PyDataset):
        first = data[0]
        return _symbolic(first[0] if isinstance(first, tuple) else first, None)
    return None if rows_of(data) is None else _symbolic(data, size)


def _symbolic(data: Any, size: int | None) -> Any:
    return keras.tree.map_structure(lambda leaf: _spec(leaf, size), data)


def _spec(leaf: Any, size: int | None) -> Any:
    if leaf is None:
        return None
    shape = tuple(leaf.shape)
    rows = shape[0] if size is None else min(size, shape[0])
    return keras.KerasTensor((rows, *shape[1:]), dtype_of(leaf))


def fit(notes: Notes, model: Any, options: dict[str, Any]) -> Any:
    _check_shapes(notes, model, options)
    notes.stage.acts["step"] += 1
    history = keras.callbacks.History()
    history.set_model(model)
    names = ["loss", *_metric_names(model)]
    if options.get("validation_data") is not None or options.get("validation_split"):
        names += [f"val_{name}" for name in names]
    history.epoch = list(range(options["initial_epoch"], options["epochs"]))
    history.history = {name: [_ASSUMED] * len(history.epoch) for name in names}
    model.history = history
    return history


def evaluate(notes: Notes, model: Any, options: dict[str, Any]) -> Any:
    _check_shapes(notes, model, options)
    notes.stage.acts["forward"] += 1
    names = ["loss", *_metric_names(model)]
    if options.get("return_dict"):
        return dict.fromkeys(names, _ASSUMED)
    return _ASSUMED if len(names) == 1 else [_ASSUMED] * len(names)


def predict(notes: Notes, model: Any, options: dict[str, Any]) -> Any:
    output = _check_shapes(notes, model, options)
    notes.stage.acts["forward"] += 1
    rows = rows_of(options["x"])
    return keras.tree.map_structure(lambda one: np.zeros((rows or one.shape[0], *one.shape[1:]), one.dtype), output)


def _check_shapes(notes: Notes, model: Any, options: dict[str, Any]) -> Any:
    """Model, loss and metrics on symbolic tensors of the first batch: raises what the real thing would raise."""
    why = "" if notes.stage.fake else f"{model.name} would take too long here: "
    notes.stage.journal.assume(users_place(sys._getframe(2)), f"{why}only its shapes were rehearsed")
    size = options.get("batch_size") or 32
    x, y = _batches(options, size)
    if x is None:
        return None
    output = compute_output_spec(model, x, training=True)
    if y is not None and model.compiled:
        compute_output_spec(model.compute_loss, x, y, output)
        compute_output_spec(model.compute_metrics, x, y, output)
        if "epochs" in options and keras.backend.backend() == "jax":
            from sleuth.dry.keras import on_jax

            on_jax.check_step(model, x, y)
        _look_for_broadcast(notes, model, y, output, users_frame(sys._getframe(2)))
    return output


def _batches(options: dict[str, Any], size: int) -> tuple[Any, Any]:
    data = options["x"]
    if isinstance(data, keras.utils.PyDataset):
        first = data[0]
        parts = first if isinstance(first, tuple) else (first,)
        x, y = itertools.islice((*parts, None, None), 2)
        return _symbolic(x, None), None if y is None else _symbolic(y, None)
    if rows_of(data) is None:
        return None, None
    labels = options.get("y")
    return _symbolic(data, size), None if labels is None else _symbolic(labels, size)


def _look_for_broadcast(notes: Notes, model: Any, y: Any, output: Any, frame: Any) -> None:
    loss = keras.losses.get(model.loss) if isinstance(model.loss, str) else model.loss
    labels, outputs = tensors_in(y), tensors_in(output)
    if len(labels) == len(outputs) == 1:
        losses.look_for_broadcast(notes, loss, labels[0], outputs[0], frame)


def _metric_names(model: Any) -> list[str]:
    return [name for name in model.get_metrics_result() if name != "loss"]
