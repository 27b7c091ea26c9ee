"""Keras layers by PyTorch's own whole operations, so that a graph shows `linear` and `batch_norm`, not their pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from keras import activations, layers
from keras.src import backend
from keras.src.layers.convolutional.base_conv import BaseConv
from torch import Tensor
from torch.nn import functional

from sleuth.compare.sides.keras_tensors import replaced


@contextmanager
def whole_operations() -> Iterator[None]:
    """While this is open, on the torch backend. What has no whole operation is computed as ever."""
    with ExitStack() as stack:
        for owner, name, function in (
            (layers.Dense, "call", _dense),
            (layers.EinsumDense, "call", _einsum_dense),
            (layers.LayerNormalization, "call", _layer_norm),
            (layers.RMSNormalization, "call", _rms_norm),
            (BaseConv, "call", _conv),
            (backend.nn, "batch_normalization", _batch_norm),
            (backend, "lstm", _lstm),
            (backend, "gru", _gru),
        ):
            stack.enter_context(replaced(owner, name, _or_else(function, vars(owner)[name])))
        yield


def _or_else(function: Any, original: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return original(*args, **kwargs) if result is None else result

    return call


def _is_plain(layer: Any) -> bool:
    return not getattr(layer, "lora_enabled", False) and layer.quantization_mode is None


def _activated(layer: Any, outputs: Tensor) -> Tensor:
    return outputs if layer.activation is None else layer.activation(outputs)


def _weight(variable: Any) -> Any:
    return None if variable is None else backend.convert_to_tensor(variable)


def _dense(layer: Any, inputs: Tensor, training: Any = None) -> Tensor | None:
    if not _is_plain(layer):
        return None
    return _activated(layer, functional.linear(inputs, _weight(layer.kernel).t(), _weight(layer.bias)))


def _einsum_dense(layer: Any, inputs: Tensor, training: Any = None) -> Tensor | None:
    """Where the last axes of the input meet the first of the kernel, it is a linear layer."""
    left, _, result = layer.equation.replace(" ", "").replace("...", "~").partition("->")
    given, _, kernel = left.partition(",")
    met = "".join(letter for letter in kernel if letter in given)
    made = kernel[len(met) :]
    straight = met and kernel.startswith(met) and given.endswith(met) and result == given[: -len(met)] + made
    bias = _weight(layer.bias)
    weight = _weight(layer.kernel)
    if not straight or not _is_plain(layer) or (bias is not None and bias.numel() != weight[(0,) * len(met)].numel()):
        return None
    sizes = weight.shape[len(met) :]
    flat = inputs.flatten(-len(met)) if len(met) > 1 else inputs
    outputs = functional.linear(flat, weight.reshape(-1, sizes.numel()).t(), None if bias is None else bias.reshape(-1))
    return _activated(layer, outputs.unflatten(-1, sizes) if len(sizes) > 1 else outputs)


def _trailing(layer: Any, inputs: Tensor) -> list[int] | None:
    """The sizes of the axes it normalises, if those are the last ones in order."""
    axes = [layer.axis] if isinstance(layer.axis, int) else list(layer.axis)
    places = [axis % inputs.ndim for axis in axes]
    return list(inputs.shape[places[0] :]) if places == list(range(inputs.ndim - len(places), inputs.ndim)) else None


def _layer_norm(layer: Any, inputs: Tensor) -> Tensor | None:
    sizes = _trailing(layer, inputs)
    if sizes is None or layer.rms_scaling:
        return None
    gamma, beta = (None if one is None else _weight(one).reshape(sizes) for one in (layer.gamma, layer.beta))
    return functional.layer_norm(inputs, sizes, gamma, beta, layer.epsilon)


def _rms_norm(layer: Any, inputs: Tensor) -> Tensor | None:
    sizes = _trailing(layer, inputs)
    if sizes is None:
        return None
    return functional.rms_norm(inputs, sizes, _weight(layer.scale).reshape(sizes), layer.epsilon)


def _conv(layer: Any, inputs: Tensor) -> Tensor | None:
    """Keras adds the bias afterwards; PyTorch's convolution takes it."""
    if not _is_plain(layer) or not layer.use_bias:
        return None
    bias = _weight(layer.bias)
    original = getattr(functional, f"conv{layer.rank}d")

    def biased(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **{**kwargs, "bias": bias})

    with replaced(functional, f"conv{layer.rank}d", biased):
        return _activated(layer, layer.convolution_op(inputs, layer.kernel))


def _batch_norm(
    x: Any, mean: Any, variance: Any, axis: int, offset: Any = None, scale: Any = None, epsilon: float = 1e-3
) -> Tensor:
    channels_first = _weight(x).movedim(axis, 1)
    mean, variance, scale, offset = (_weight(one) for one in (mean, variance, scale, offset))
    return functional.batch_norm(channels_first, mean, variance, scale, offset, eps=epsilon).movedim(1, axis)


def _is_usual(activation: Any, recurrent_activation: Any, mask: Any) -> bool:
    return mask is None and activation is activations.tanh and recurrent_activation is activations.sigmoid


def _lstm(
    inputs: Any, initial_h: Any, initial_c: Any, mask: Any, *, kernel: Any, recurrent_kernel: Any, bias: Any,
    activation: Any, recurrent_activation: Any, go_backwards: bool = False, **others: Any,
) -> Any:  # fmt: skip
    if not _is_usual(activation, recurrent_activation, mask):
        return None
    weights = [_weight(kernel).t(), _weight(recurrent_kernel).t()]
    if bias is not None:
        weights += [_weight(bias), torch.zeros_like(_weight(bias))]
    inputs = inputs.flip(1) if go_backwards else inputs
    state = [initial_h.unsqueeze(0), initial_c.unsqueeze(0)]
    outputs, h, c = torch._VF.lstm(inputs, state, weights, bias is not None, 1, 0.0, False, False, True)
    return h[0], outputs, [h[0], c[0]]


def _gru(
    inputs: Any, initial: Any, mask: Any, *, kernel: Any, recurrent_kernel: Any, bias: Any,
    activation: Any, recurrent_activation: Any, go_backwards: bool = False, reset_after: bool = True, **others: Any,
) -> Any:  # fmt: skip
    if not _is_usual(activation, recurrent_activation, mask) or not reset_after:
        return None
    weights = [_reordered(_weight(one)).t() for one in (kernel, recurrent_kernel)]
    if bias is not None:
        both = _reordered(_weight(bias))
        weights += [both[0], both[1]]
    inputs = inputs.flip(1) if go_backwards else inputs
    outputs, h = torch._VF.gru(inputs, initial.unsqueeze(0), weights, bias is not None, 1, 0.0, False, False, True)
    return h[0], outputs, [h[0]]


def _reordered(weight: Tensor) -> Tensor:
    """Keras keeps a GRU's gates as update, reset, new; PyTorch as reset, update, new."""
    update, reset, new = weight.chunk(3, -1)
    return torch.cat([reset, update, new], -1)
