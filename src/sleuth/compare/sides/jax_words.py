"""PyTorch's word for a primitive of JAX, and what part it can play in a layer."""

from __future__ import annotations

from sleuth.compare.sides.pieces import Kind

_WORDS = {
    "abs": "abs",
    "add_any": "add",
    "broadcast_in_dim": "expand",
    "concatenate": "cat",
    "cumsum": "cumsum",
    "dot_general": "matmul",
    "erf": "erf",
    "gather": "embedding",
    "integer_pow": "pow",
    "logistic": "sigmoid",
    "max": "maximum",
    "min": "minimum",
    "reduce_max": "amax",
    "reduce_min": "amin",
    "reduce_sum": "sum",
    "reduce_window_max": "max_pool2d",
    "reduce_window_sum": "avg_pool2d",
    "reshape": "view",
    "select_n": "where",
    "transpose": "permute",
}
_KINDS: dict[str, Kind] = {
    "add": "add",
    "add_any": "add",
    "broadcast_in_dim": "idle",
    "conv_general_dilated": "convolution",
    "convert_element_type": "idle",
    "copy": "idle",
    "copy_p": "idle",
    "dot_general": "product",
    "optimization_barrier": "idle",
    "reduce_sum": "mean",
    "reshape": "shape",
    "rsqrt": "root",
    "sharding_constraint": "idle",
    "sqrt": "root",
    "squeeze": "shape",
    "stop_gradient": "idle",
}
# Functions of jax.nn that PyTorch has as one operation.
WHOLE = {
    "celu": "celu",
    "dot_product_attention": "scaled_dot_product_attention",
    "elu": "elu",
    "gelu": "gelu",
    "glu": "glu",
    "hard_sigmoid": "hardsigmoid",
    "hard_silu": "hardswish",
    "hard_swish": "hardswish",
    "hard_tanh": "hardtanh",
    "leaky_relu": "leaky_relu",
    "log_sigmoid": "log_sigmoid",
    "log_softmax": "log_softmax",
    "mish": "mish",
    "relu": "relu",
    "relu6": "hardtanh",
    "selu": "selu",
    "sigmoid": "sigmoid",
    "silu": "silu",
    "softmax": "softmax",
    "softplus": "softplus",
    "swish": "silu",
}


def of(primitive: str, rank: int) -> str:
    """`rank` is the number of axes of its result."""
    if primitive == "conv_general_dilated":
        return f"conv{rank - 2}d"
    return _WORDS.get(primitive, primitive)


def kind_of(primitive: str) -> Kind:
    return _KINDS.get(primitive, "other")
