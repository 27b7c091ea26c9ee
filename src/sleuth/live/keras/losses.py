"""A model's compiled loss at one step, in the terms of the rules."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from sleuth.live.loss_numbers import measure
from sleuth.live.signals import LossLook
from sleuth.program import place_of

_NAMES = {
    "SparseCategoricalCrossentropy": "cross_entropy",
    "CategoricalCrossentropy": "cross_entropy",
    "BinaryCrossentropy": "binary_cross_entropy_with_logits",
    "MeanSquaredError": "mse_loss",
    "MeanAbsoluteError": "l1_loss",
    "Huber": "huber_loss",
}
_OF_PROBABILITIES = {
    "cross_entropy": "cross_entropy_of_probabilities",
    "binary_cross_entropy_with_logits": "binary_cross_entropy",
}


def look_at(model: Any, y: Any, y_pred: Any, sample_weight: Any, loss: Any, line: Any) -> LossLook | None:
    function = _function(model)
    if function is None or y is None or isinstance(y, list | tuple | dict) or isinstance(y_pred, list | tuple | dict):
        return None
    scores, target = (np.asarray(keras.ops.convert_to_numpy(v)) for v in (y_pred, y))
    if target.ndim == scores.ndim and target.shape[-1:] == (1,) and scores.shape[-1] != 1:
        target = target[..., 0]
    made = model.layers[-1] if getattr(model, "layers", None) else None
    activation = getattr(getattr(made, "activation", None), "__name__", "linear")
    value = float(keras.ops.convert_to_numpy(loss))
    return measure(
        function,
        scores,
        target,
        None,
        value,
        activation,
        None if made is None else _place(made),
        place_of(*line) if line is not None else None,
        weighted=sample_weight is not None,
    )


def _place(layer: Any) -> Any:
    from sleuth.live.keras import making

    return making.place(layer)


def _function(model: Any) -> str | None:
    loss = getattr(model, "loss", None)
    loss = keras.losses.get(loss) if isinstance(loss, str) else loss
    kind = type(loss).__name__ if isinstance(loss, keras.losses.Loss) else _class_of(loss)
    name = _NAMES.get(kind)
    if name in _OF_PROBABILITIES:
        settings = loss.get_config() if isinstance(loss, keras.losses.Loss) else {}
        return name if settings.get("from_logits") else _OF_PROBABILITIES[name]
    return name


def _class_of(loss: Any) -> str:
    return "".join(part.capitalize() for part in getattr(loss, "__name__", "").split("_"))
