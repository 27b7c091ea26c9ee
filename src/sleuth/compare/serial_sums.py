"""What float32 costs an implementation that sums one product after the other.

The reference sums in blocks, and so comes nearer to the truth than others that are as right: over n products by about
the root of n / 6. A verdict near the limit has to stand this, too."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import Call, Reference, op_of
from sleuth.compare.scores import Noise
from sleuth.compare.values import Batch

# The two factors, by the names of PyTorch's schema.
_PRODUCTS = {
    "linear": ("input", "weight"),
    "addmm": ("mat1", "mat2"),
    "mm": ("self", "mat2"),
    "bmm": ("self", "mat2"),
    "matmul": ("self", "other"),
}
# What takes longer than seconds is summed as the reference sums it.
_MOST_PRODUCTS = 1 << 30


def noise_of_serial_sums(reference: Reference, batch: Batch) -> list[float]:
    """Of each output, relative to its size."""
    overrides = {name: _serially for name in reference.names if op_of(reference.nodes[name]) in _PRODUCTS}
    truth = reference.run(batch, torch.float64)
    if not overrides:
        return [0.0] * len(truth)
    single = reference.run(batch, torch.float32, overrides)
    return [Noise.of(*both).rms for both in zip(truth, single, strict=True)]


def _serially(call: Call) -> Any:
    one, other = (call.arguments[name] for name in _PRODUCTS[call.op])
    if call.op == "linear":
        other = other.T
    if one.ndim < 2 or other.ndim < 2 or not one.is_floating_point():
        return call.again()
    if one.numel() * other.shape[-1] > _MOST_PRODUCTS:
        return call.again()
    total = _summed(one, other)
    if call.op == "addmm":
        return call.arguments["self"] * call.arguments.get("beta", 1) + total * call.arguments.get("alpha", 1)
    bias = call.arguments.get("bias")
    return total if bias is None else total + bias


def _summed(one: Tensor, other: Tensor) -> Tensor:
    total = one[..., :1] * other[..., :1, :]
    for place in range(1, one.shape[-1]):
        total = total + one[..., place : place + 1] * other[..., place : place + 1, :]
    return total
