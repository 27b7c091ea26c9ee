"""PyTorch's weights in the order and layout in which the ports in Keras hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from compare.networks import HEADS
from compare.ports import keras_name

Array = NDArray[Any]


def converted(module: nn.Module) -> dict[str, list[Array]]:
    """By the layer's PyTorch name, what its port's `set_weights` takes."""
    found: dict[str, list[Array]] = {}
    for name, layer in module.named_modules():
        arrays = _of_layer(layer)
        if arrays and not name.endswith("out_proj"):
            found[name] = arrays
    if hasattr(module, "cls"):
        found["places"] = [_array(module.cls), _array(module.places)]
    return found


def put(model: Any, weights: Mapping[str, list[Array]]) -> None:
    """Into a port whose layers are named alike; those of layers of one's own have dots in theirs."""
    for name, arrays in weights.items():
        layer_of(model, name).set_weights(arrays)


def layer_of(model: Any, name: str) -> Any:
    """The layer that is the port of this one, be it a part of another."""
    known = {layer.name: layer for layer in model.layers}
    if keras_name(name) in known:
        return known[keras_name(name)]
    outer, _, inner = name.rpartition(".")
    return getattr(known[keras_name(outer)], inner)


def _array(tensor: Any) -> Array:
    return np.array(tensor.detach().numpy(), np.float32)


def _of_layer(layer: Any) -> list[Array]:
    if isinstance(layer, nn.MultiheadAttention):
        return _attention(layer)
    if isinstance(layer, nn.Linear):
        return [_array(layer.weight).T, *([_array(layer.bias)] if layer.bias is not None else [])]
    if isinstance(layer, nn.ConvTranspose2d | nn.Conv2d):
        return [_array(layer.weight).transpose(2, 3, 1, 0), *([_array(layer.bias)] if layer.bias is not None else [])]
    if isinstance(layer, nn.BatchNorm2d):
        return [_array(one) for one in (layer.weight, layer.bias, layer.running_mean, layer.running_var)]
    if isinstance(layer, nn.LayerNorm):
        return [_array(layer.weight), _array(layer.bias)]
    if isinstance(layer, nn.Embedding):
        return [_array(layer.weight)]
    if isinstance(layer, nn.LSTM):
        return [one for suffix in ("", "_reverse") for one in _lstm(layer, suffix)]
    return _gru(layer) if isinstance(layer, nn.GRU) else []


def _lstm(layer: nn.LSTM, suffix: str) -> list[Array]:
    """Both have the gates in the order input, forget, cell, output; Keras has one bias."""
    w, r, b, c = (
        _array(getattr(layer, f"{name}_l0{suffix}")) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    return [w.T, r.T, b + c]


def _gru(layer: nn.GRU) -> list[Array]:
    """PyTorch: reset, update, new; Keras: update, reset, new."""
    arrays = [_array(getattr(layer, f"{name}_l0")) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    w, r, b, c = (np.concatenate([np.split(one, 3)[gate] for gate in (1, 0, 2)]) for one in arrays)
    return [w.T, r.T, np.stack([b, c])]


def _attention(layer: nn.MultiheadAttention) -> list[Array]:
    width = layer.embed_dim
    each = width // HEADS
    assert layer.in_proj_weight is not None
    kernels = np.split(_array(layer.in_proj_weight), 3)
    biases = np.split(_array(layer.in_proj_bias), 3)
    projections = [
        array
        for kernel, bias in zip(kernels, biases, strict=True)
        for array in (kernel.T.reshape(width, HEADS, each), bias.reshape(HEADS, each))
    ]
    out = _array(layer.out_proj.weight).T.reshape(HEADS, each, width)
    return [*projections, out, _array(layer.out_proj.bias)]
