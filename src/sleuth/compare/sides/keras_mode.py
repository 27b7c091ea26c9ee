"""In which mode a Keras model is called."""

from __future__ import annotations

from typing import Any


def inference(model: Any) -> dict[str, bool]:
    """The argument that says so. It overrules what a functional model was built with, `Dropout(0.1)(x, training=True)`.

    Where that is, the argument is left out, as in `model(x)`: what its author has asked for is part of the model."""
    return {} if any(map(_asks_to_train, _layers(model))) else {"training": False}


def _layers(model: Any) -> list[Any]:
    return list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else []


def _asks_to_train(layer: Any) -> bool:
    nodes = getattr(layer, "_inbound_nodes", ())
    return any(getattr(node, "arguments", None) is not None and node.arguments.kwargs.get("training") for node in nodes)
