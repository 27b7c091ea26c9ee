"""The usual int8 quantiser, simulated: one step for a whole tensor, its weights' the same on both sides of zero.

So PyTorch and ONNX Runtime quantise unless they are told to give each channel a step of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import Call, Override

_CONVOLUTIONS = frozenset({"conv1d", "conv2d", "conv3d", "convolution"})
_TRANSPOSED = frozenset({"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
_PRODUCTS = {"matmul": ("self", "other"), "mm": ("self", "mat2"), "bmm": ("self", "mat2"), "addmm": ("mat1", "mat2")}
_RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})


def fake_quantised(op: str, weights: frozenset[str]) -> Override | None:
    """The operation as a dynamic quantiser computes it, or None; `weights` are its arguments that are constant."""
    if op in _RECURRENT and "params" in weights:
        return _recurrent
    if op == "embedding" and "weight" in weights:
        return lambda call: call.again(weight=rounded_range(call.arguments["weight"]))
    if "weight" in weights and (op == "linear" or op in _CONVOLUTIONS | _TRANSPOSED):
        return _product("input", "weight")
    if op in _PRODUCTS and _PRODUCTS[op][1] in weights:
        return _product(*_PRODUCTS[op])
    return None


def _product(left: str, right: str) -> Override:
    def compute(call: Call) -> Any:
        changed = {left: rounded_range(call.arguments[left]), right: rounded_evenly(call.arguments[right])}
        return call.again(**changed)

    return compute


def _recurrent(call: Call) -> Any:
    """Its hidden state, which is quantised at every step, is not: that error is of the size of the input's."""
    rounded = [rounded_evenly(one) if one.dim() > 1 else one for one in call.arguments["params"]]
    return call.again(input=rounded_range(call.arguments["input"]), params=rounded)


def in_tf32(op: str) -> Override | None:
    """A product as a GPU computes it in TF32: its factors rounded to 10 bits, the sums whole."""
    if op != "linear" and op not in _CONVOLUTIONS | _TRANSPOSED and op not in _PRODUCTS:
        return None
    factors = _PRODUCTS.get(op, ("input", "weight"))
    return lambda call: call.again(**{name: _ten_bits(call.arguments[name]) for name in factors})


def _ten_bits(values: Tensor) -> Tensor:
    if values.dtype != torch.float32:
        return values
    return (values.contiguous().view(torch.int32) + 0x1000 & ~0x1FFF).view(torch.float32)


def rounded_range(values: Tensor) -> Tensor:
    """To 256 steps between the least and the greatest value, with zero exact."""
    if not values.is_floating_point() or not values.numel():
        return values
    low, high = values.amin().clamp(max=0.0), values.amax().clamp(min=0.0)
    step = ((high - low) / 255.0).clamp(min=torch.finfo(values.dtype).tiny)
    zero = (-low / step).round()
    return ((values / step + zero).round().clamp(0.0, 255.0) - zero) * step


def rounded_evenly(weight: Tensor) -> Tensor:
    """To whole steps from -127 to 127."""
    step = (weight.abs().amax() / 127.0).clamp(min=torch.finfo(weight.dtype).tiny)
    return (weight / step).round().clamp(-127.0, 127.0) * step
