"""PyTorch's word for what a Keras layer or a function of keras.ops computes."""

from __future__ import annotations

import re
from typing import Any

_LAYERS = {
    "Add": "add",
    "AdditiveAttention": "",
    "Attention": "scaled_dot_product_attention",
    "Average": "mean",
    "BatchNormalization": "batch_norm",
    "Bidirectional": "cat",
    "Concatenate": "cat",
    "Dense": "linear",
    "Dot": "matmul",
    "ELU": "elu",
    "EinsumDense": "linear",
    "Embedding": "embedding",
    "Flatten": "flatten",
    "GRU": "gru",
    "GroupNormalization": "group_norm",
    "GroupQueryAttention": "linear",
    "LSTM": "lstm",
    "LayerNormalization": "layer_norm",
    "LeakyReLU": "leaky_relu",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "MultiHeadAttention": "linear",
    "Multiply": "mul",
    "PReLU": "prelu",
    "Permute": "permute",
    "RMSNormalization": "rms_norm",
    "ReLU": "relu",
    "RepeatVector": "expand",
    "Rescaling": "add",
    "Reshape": "view",
    "SimpleRNN": "rnn_tanh",
    "Softmax": "softmax",
    "Subtract": "sub",
}
# Layers whose names carry the number of dimensions.
_DIMENSIONED = {
    "AdaptiveAveragePooling": "adaptive_avg_pool{}d",
    "AdaptiveMaxPooling": "adaptive_max_pool{}d",
    "AveragePooling": "avg_pool{}d",
    "Conv": "conv{}d",
    "DepthwiseConv": "conv{}d",
    "GlobalAveragePooling": "mean",
    "GlobalMaxPooling": "amax",
    "MaxPooling": "max_pool{}d",
    "SeparableConv": "conv{}d",
    "ZeroPadding": "pad",
}
_UPSAMPLING = {"nearest": "upsample_nearest{}d", "bilinear": "upsample_bilinear{}d", "bicubic": "upsample_bicubic{}d"}
_FUNCTIONS = {
    "absolute": "abs",
    "average_pool": "avg_pool{}d",
    "batch_normalization": "batch_norm",
    "broadcast_to": "expand",
    "concatenate": "cat",
    "conv": "conv{}d",
    "conv_transpose": "conv_transpose{}d",
    "depthwise_conv": "conv{}d",
    "divide": "div",
    "dot": "matmul",
    "dot_product_attention": "scaled_dot_product_attention",
    "expand_dims": "unsqueeze",
    "floor_divide": "floor_divide",
    "hard_sigmoid": "hardsigmoid",
    "hard_silu": "hardswish",
    "layer_normalization": "layer_norm",
    "max": "amax",
    "max_pool": "max_pool{}d",
    "min": "amin",
    "multiply": "mul",
    "negative": "neg",
    "power": "pow",
    "relu6": "hardtanh",
    "repeat": "repeat_interleave",
    "reshape": "view",
    "rms_normalization": "rms_norm",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swish": "silu",
    "take": "embedding",
    "tile": "repeat",
    "transpose": "permute",
    "true_divide": "div",
}
OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul", "pow": "pow"}


def of_layer(layer: Any) -> str:
    """What its output is, before the activation that may be fused into it."""
    if type(layer).__name__ == "TimeDistributed":
        return of_activation(layer.layer) or of_layer(layer.layer)
    for kind in type(layer).__mro__:
        word = _of_kind(kind.__name__, layer) if kind.__module__.startswith("keras.") else None
        if word is not None:
            return word
    return of_activation(layer)


def _of_kind(name: str, layer: Any) -> str | None:
    """None if the class says nothing, so that the one it derives from is asked."""
    if name in _LAYERS:
        return _LAYERS[name]
    parts = re.fullmatch(r"([A-Za-z]+)([123])D(Transpose)?", name)
    if parts is None:
        return None
    if parts[1] == "UpSampling":
        kind = _UPSAMPLING.get(getattr(layer, "interpolation", "nearest"), "")
        return kind.format(parts[2])
    return (f"{_DIMENSIONED.get(parts[1], '')}" if not parts[3] else "conv_transpose{}d").format(parts[2])


def of_activation(layer: Any) -> str:
    """The word for the function that a layer ends with; none for the identity."""
    function = getattr(layer, "activation", None)
    if hasattr(function, "get_config"):  # a layer in the place of a function
        return of_layer(function)
    name = getattr(function, "__name__", "") or type(function).__name__.lower()
    return "" if function is None or name == "linear" else _FUNCTIONS.get(name, name)


def of_function(name: str, rank: int | None = None) -> str:
    """`rank` is the number of axes of what it is given: a convolution's has two more than its kernel moves along."""
    word = _FUNCTIONS.get(name, name)
    return word.format(rank - 2 if rank and rank > 2 else "") if "{}" in word else word
