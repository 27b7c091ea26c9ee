"""Numbers that index something: class numbers and Embedding inputs, which JAX clamps without a word."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np

from sleuth import handbook
from sleuth.dry.keras.calls import title_of
from sleuth.dry.keras.notes import Notes
from sleuth.findings import Evidence, Link
from sleuth.program import users_place

# More numbers than this are not all looked at.
_MOST = 50_000_000


def look(notes: Notes, model: Any, x: Any, y: Any) -> None:
    """Before a `fit`: do the labels and the tokens fit the model?"""
    _look_at_labels(notes, model, y)
    _look_at_tokens(notes, model, x)


def _look_at_labels(notes: Notes, model: Any, y: Any) -> None:
    if not _is_sparse_crossentropy(getattr(model, "loss", None)):
        return
    output, span = _output_of(model), _span(y)
    if output is None or span is None or not isinstance(output.shape[-1], int):
        return
    classes = output.shape[-1]
    low, high = span
    if (low >= 0 and high < classes) or _ignores(model.loss, low):
        return
    notes.stage.journal.finding(
        handbook.finding(
            "label-out-of-range",
            place=users_place(sys._getframe(1)),
            title=f"labels go from {low} to {high}, but the model has {classes} outputs (classes 0 to {classes - 1})",
            evidence=[
                Evidence("smallest label", low),
                Evidence("largest label", high),
                Evidence("outputs of the model", classes),
            ],
            chain=[Link(f"the last layer gives {tuple(output.shape)}", _last_layer(notes, output))],
        )
    )


def _is_sparse_crossentropy(loss: Any) -> bool:
    name = loss if isinstance(loss, str) else getattr(loss, "name", None) or getattr(loss, "__name__", "")
    return name == "sparse_categorical_crossentropy"


def _ignores(loss: Any, label: int) -> bool:
    return getattr(loss, "ignore_class", None) == label


def _output_of(model: Any) -> Any:
    try:
        outputs = model.outputs
    except AttributeError:
        return None
    return outputs[0] if outputs and len(outputs) == 1 else None


def _last_layer(notes: Notes, output: Any) -> Any:
    return notes.place_made(output._keras_history.operation)


def _span(data: Any) -> tuple[int, int] | None:
    """The smallest and the largest of whole numbers."""
    if not hasattr(data, "shape") or not hasattr(data, "dtype"):
        return None
    array = keras.ops.convert_to_numpy(data) if keras.ops.is_tensor(data) else np.asarray(data)
    if array.dtype.kind not in "iu" or not 0 < array.size <= _MOST:
        return None
    return int(array.min()), int(array.max())


def _look_at_tokens(notes: Notes, model: Any, x: Any) -> None:
    inputs: Any = getattr(model, "inputs", None) or ()
    if len(inputs) != 1:
        return
    span = _span(x)
    if span is None:
        return
    for layer in model._flatten_layers(include_self=False, recursive=False):
        if isinstance(layer, keras.layers.Embedding) and _reads(layer, inputs[0]):
            _check_tokens(notes, layer, *span)


def _reads(layer: Any, tensor: Any) -> bool:
    return any(given is tensor for node in layer._inbound_nodes for given in node.input_tensors)


def _check_tokens(notes: Notes, layer: Any, low: int, high: int) -> None:
    if low >= 0 and high < layer.input_dim:
        return
    notes.stage.journal.finding(
        handbook.finding(
            "embedding-too-small",
            place=notes.place_made(layer),
            title=f"{title_of(layer)} has rows 0 to {layer.input_dim - 1}, and its input reaches {high}",
            evidence=[
                Evidence("rows of the table", layer.input_dim),
                Evidence("smallest index", low),
                Evidence("largest index", high),
                Evidence("rows it needs", high + 1),
            ],
            chain=[Link("the data goes in here", users_place(sys._getframe(1)))],
        )
    )
