"""PyTorch's word for a TensorFlow operation."""

from __future__ import annotations

_WORDS = {
    "AddV2": "add",
    "AvgPool": "avg_pool2d",
    "AvgPool3D": "avg_pool3d",
    "BatchMatMulV2": "matmul",
    "BatchMatMulV3": "matmul",
    "BiasAdd": "add",
    "ConcatV2": "cat",
    "Conv2D": "conv2d",
    "Conv2DBackpropInput": "conv_transpose2d",
    "Conv3D": "conv3d",
    "Conv3DBackpropInputV2": "conv_transpose3d",
    "DepthwiseConv2dNative": "conv2d",
    "ExpandDims": "unsqueeze",
    "FusedBatchNorm": "batch_norm",
    "FusedBatchNormV2": "batch_norm",
    "FusedBatchNormV3": "batch_norm",
    "Gather": "embedding",
    "GatherV2": "embedding",
    "ResourceGather": "embedding",
    "LogSoftmax": "log_softmax",
    "LeakyRelu": "leaky_relu",
    "MatMul": "matmul",
    "Max": "amax",
    "MaxPool": "max_pool2d",
    "MaxPool3D": "max_pool3d",
    "Min": "amin",
    "MirrorPad": "pad",
    "Pack": "stack",
    "PadV2": "pad",
    "RealDiv": "div",
    "Relu6": "hardtanh",
    "Reshape": "view",
    "ResizeBicubic": "upsample_bicubic2d",
    "ResizeBilinear": "upsample_bilinear2d",
    "ResizeNearestNeighbor": "upsample_nearest2d",
    "SelectV2": "where",
    "StridedSlice": "slice",
    "Tile": "repeat",
    "Transpose": "permute",
}
PRODUCTS = frozenset({"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
CONVOLUTIONS = frozenset({"Conv2D", "Conv2DBackpropInput", "Conv3D", "Conv3DBackpropInputV2", "DepthwiseConv2dNative"})


def of(kind: str) -> str:
    return _WORDS.get(kind, kind.lower())
