"""What an ONNX model's numbers are kept in, and which layers of a quantised one are not quantised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onnx import TensorProto

_FLOATS = {
    TensorProto.FLOAT: ("float32", 4),
    TensorProto.FLOAT16: ("float16", 2),
    TensorProto.BFLOAT16: ("bfloat16", 2),
    TensorProto.DOUBLE: ("float64", 8),
}
_INTEGERS = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT4, TensorProto.UINT4)
_QUANTISED = frozenset({
    "QLinearConv", "QLinearMatMul", "QGemm", "QAttention", "ConvInteger", "MatMulInteger", "MatMulIntegerToFloat",
    "DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "DequantizeLinear", "QEmbedLayerNormalization",
})  # fmt: skip
# The layers in which nearly all of a model's weights are.
_HEAVY = frozenset(
    {
        "Conv",
        "ConvTranspose",
        "Gemm",
        "MatMul",
        "LSTM",
        "GRU",
        "RNN",
        "Attention",
        "FusedConv",
        "FusedMatMul",
        "FusedGemm",
    }
)
# Nothing is worth quantising in a layer this small: a scale, a bias, a table of positions.
_LEAST_NUMBERS = 64


@dataclass(frozen=True, slots=True)
class FloatLayer:
    """A layer that has its weights as floating-point numbers."""

    value: str
    operator: str
    bytes: int


def precision(graph: Any) -> str:
    """int8 where anything is quantised, or else the type in which most of its weights are."""
    if any(node.op_type in _QUANTISED for node in graph.node):
        return "int8"
    held: dict[str, int] = {}
    for one in graph.initializer:
        if one.data_type in _FLOATS:
            name = _FLOATS[one.data_type][0]
            held[name] = held.get(name, 0) + math.prod(one.dims)
    return max(held, key=held.__getitem__, default="float32")


def float_layers(graph: Any) -> list[FloatLayer]:
    """The heavy layers with float weights, whether these are there as such or are computed from what is."""
    weights = {one.name: one for one in graph.initializer}
    made_of = _made_of_weights(graph)
    found = []
    for node in graph.node:
        if node.op_type not in _HEAVY:
            continue
        names = {weight for name in node.input[: _weights_end(node)] for weight in made_of.get(name, ())}
        count = {name: math.prod(weights[name].dims) for name in names}
        if sum(count.values()) >= _LEAST_NUMBERS:
            size = sum(number * _FLOATS[weights[name].data_type][1] for name, number in count.items())
            found.append(FloatLayer(next(name for name in node.output if name), node.op_type, size))
    return found


def quantised_values(graph: Any) -> Iterator[str]:
    """The results of what is computed in integers, or from weights that are kept in them."""
    unpacked = {name for node in graph.node if node.op_type == "DequantizeLinear" for name in node.output}
    looked_up = {name for node in graph.node if node.op_type == "Gather" for name in node.output}
    for node in graph.node:
        of_table = node.op_type == "DequantizeLinear" and node.input[0] in looked_up
        in_integers = node.op_type in _QUANTISED and node.op_type != "DequantizeLinear"
        if of_table or in_integers or (node.op_type in _HEAVY and unpacked.intersection(node.input[1:])):
            yield from (name for name in node.output if name)


def quantised_weights(graph: Any) -> set[str]:
    """The modules that weights kept in integers are named after."""
    names = [one.name for one in graph.initializer if one.data_type in _INTEGERS and len(one.dims) > 1]
    return {name.removesuffix("_quantized").rpartition(".")[0] for name in names if "." in name}


def _weights_end(node: Any) -> int:
    """The weights and the bias come first; then the lengths and the states of a recurrent layer."""
    return 4 if node.op_type in ("LSTM", "GRU", "RNN") else 3


def _made_of_weights(graph: Any) -> dict[str, frozenset[str]]:
    """Of each value that depends on no input: the float weights it is made of; none where these are quantised."""
    made = {one.name: frozenset({one.name} if one.data_type in _FLOATS else ()) for one in graph.initializer}
    made[""] = frozenset()
    for node in graph.node:
        if all(name in made for name in node.input):
            weights = frozenset[str]().union(*(made[name] for name in node.input))
            made.update(dict.fromkeys(node.output, frozenset() if node.op_type == "DequantizeLinear" else weights))
    return made
