"""An ONNX model as a graph of PyTorch operations, to be run in float64, node by node, or computed otherwise."""

from sleuth.compare.onnx_import.importing import import_onnx

__all__ = ["import_onnx"]
