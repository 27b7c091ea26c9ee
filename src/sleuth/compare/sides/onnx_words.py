"""ONNX's operators in PyTorch's words: the same operation has the same name on both sides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sleuth.compare.origins import Origin, plain
from sleuth.compare.sides.onnx_shapes import attribute, shapes

_WORDS = {
    "Gemm": "linear", "QGemm": "linear", "MatMulInteger": "linear", "QLinearMatMul": "linear",
    "MatMulIntegerToFloat": "linear", "DynamicQuantizeMatMul": "linear", "MatMulNBits": "linear",
    "FusedGemm": "linear", "GemmFastGelu": "linear", "FusedMatMul": "matmul", "LayerNormalization": "layer_norm",
    "SkipLayerNormalization": "layer_norm", "BatchNormalization": "batch_norm",
    "InstanceNormalization": "instance_norm", "GroupNormalization": "group_norm", "GroupNorm": "group_norm",
    "RMSNormalization": "rms_norm", "SimplifiedLayerNormalization": "rms_norm",
    "SkipSimplifiedLayerNormalization": "rms_norm", "Gelu": "gelu", "FastGelu": "gelu", "BiasGelu": "gelu",
    "Swish": "silu", "LeakyRelu": "leaky_relu", "PRelu": "prelu", "HardSigmoid": "hardsigmoid",
    "HardSwish": "hardswish", "LogSoftmax": "log_softmax", "Clip": "clamp", "Concat": "cat", "Transpose": "permute",
    "Reshape": "view", "Expand": "expand", "Tile": "repeat", "Cast": "to", "ReduceMean": "mean", "ReduceSum": "sum",
    "ReduceMax": "amax", "ReduceMin": "amin", "ReduceProd": "prod", "ReduceL2": "linalg_vector_norm",
    "ReduceLogSumExp": "logsumexp", "ArgMax": "argmax", "ArgMin": "argmin", "CumSum": "cumsum", "RNN": "rnn_tanh",
    "DynamicQuantizeLSTM": "lstm", "TopK": "topk", "DepthToSpace": "pixel_shuffle", "SpaceToDepth": "pixel_unshuffle",
    "GridSample": "grid_sampler", "ScatterND": "index_put", "GatherND": "index", "GatherElements": "gather",
    "ScatterElements": "scatter", "Attention": "scaled_dot_product_attention",
    "MultiHeadAttention": "scaled_dot_product_attention", "GroupQueryAttention": "scaled_dot_product_attention",
    "QAttention": "scaled_dot_product_attention", "Trilu": "tril", "QuantizeLinear": "quantize_per_tensor",
    "DequantizeLinear": "dequantize",
}  # fmt: skip
_CONVOLUTIONS = {
    "Conv": "conv", "FusedConv": "conv", "QLinearConv": "conv", "ConvInteger": "conv",
    "ConvTranspose": "conv_transpose",
}  # fmt: skip
_POOLS = {
    "MaxPool": "max_pool", "AveragePool": "avg_pool", "GlobalAveragePool": "adaptive_avg_pool", "LpPool": "lp_pool",
    "GlobalMaxPool": "adaptive_max_pool",
}  # fmt: skip
_RESIZED = {
    ("nearest", 1): "upsample_nearest1d", ("nearest", 2): "upsample_nearest2d", ("nearest", 3): "upsample_nearest3d",
    ("linear", 1): "upsample_linear1d", ("linear", 2): "upsample_bilinear2d", ("linear", 3): "upsample_trilinear3d",
    ("cubic", 2): "upsample_bicubic2d",
}  # fmt: skip
_SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Where a convolution's weight is among its inputs, if not second.
_WEIGHT_AT = {"QLinearConv": 3}


class Words:
    """PyTorch's word for each value of one graph."""

    def __init__(self, graph: Any, origins: Mapping[str, Origin]) -> None:
        self._origins = origins
        self._shapes = shapes(graph)
        self._constants = {one.name for one in graph.initializer}
        self._constants |= {name for node in graph.node if node.op_type == "Constant" for name in node.output}
        self._makers = {name: node for node in graph.node for name in node.output}
        self._uses = Counter(name for node in graph.node for name in node.input)
        self._biased = {name for node in graph.node if self._is_bias(node) for name in node.input}

    def of(self, node: Any, value: str) -> str:
        """By the exporter's word, or else by the operator."""
        origin = self._origins.get(value)
        if origin is not None and origin.op not in ("convolution", "getitem"):
            return plain(origin.op)
        return self.of_operator(node)

    def of_operator(self, node: Any) -> str:
        kind = node.op_type
        if kind in _CONVOLUTIONS:
            return self._convolution(node)
        if kind in _POOLS:
            spatial = len(attribute(node, "kernel_shape", ())) or self._rank(node.input[0]) - 2
            return f"{_POOLS[kind]}{spatial}d"
        if kind in ("Resize", "Upsample"):
            mode = attribute(node, "mode", b"nearest").decode()
            return _RESIZED.get((mode, self._resized_axes(node)), "interpolate")
        if kind == "MatMul":
            return "linear" if self._has_weight(node) and node.output[0] not in self._biased else "matmul"
        if kind == "Add":
            return "linear" if self._is_bias(node) else "add"
        if kind == "Gather":
            return (
                "embedding" if node.input[0] in self._constants and self._rank(node.input[0]) == 2 else "index_select"
            )
        return _WORDS.get(kind) or _SNAKE.sub("_", kind).lower()

    def _convolution(self, node: Any) -> str:
        """Weights that the exporter has made new hold the batch normalisation that followed."""
        weight = node.input[_WEIGHT_AT.get(node.op_type, 1)]
        if node.op_type == "Conv" and weight.startswith("onnx::Conv_"):
            return "batch_norm"
        return f"{_CONVOLUTIONS[node.op_type]}{self._rank(weight) - 2}d"

    def _resized_axes(self, node: Any) -> int:
        """All but the batch and the channels."""
        for name in (*node.input[2:4], *node.input[1:2]):  # scales, sizes; the older Upsample has its scales second
            length = self._shapes.get(name, (None,))
            if len(length) == 1 and length[0]:
                return length[0] - 2
        return self._rank(node.input[0]) - 2

    def _rank(self, name: str) -> int:
        """An image's where it is not known."""
        return len(self._shapes[name]) if name in self._shapes else 4

    def _has_weight(self, node: Any) -> bool:
        return any(name in self._constants for name in node.input)

    def _is_bias(self, node: Any) -> bool:
        """Does it end a linear layer: the sum of a product with a weight, and a constant of one axis?"""
        if node.op_type != "Add":
            return False
        for product, bias in (node.input, node.input[::-1]):
            maker = self._makers.get(product)
            if maker is not None and maker.op_type == "MatMul" and self._has_weight(maker) and self._uses[product] == 1:
                return bias in self._constants and self._rank(bias) == 1
        return False
