"""Translations of ONNX operations, one family a file."""
