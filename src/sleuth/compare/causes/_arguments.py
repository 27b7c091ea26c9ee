"""The arguments of an operation, also those that were left at PyTorch's defaults, and the ways to change one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import Call, Override

CONVOLUTIONS = frozenset({"conv1d", "conv2d", "conv3d"})
TRANSPOSED_CONVOLUTIONS = frozenset({"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
NORMS = frozenset({"layer_norm", "batch_norm", "group_norm", "instance_norm", "rms_norm"})
PRODUCTS = frozenset({"matmul", "mm", "bmm", "addmm", "baddbmm"})
RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
_RIGHT_HAND = {"matmul": "other", "mm": "mat2", "bmm": "mat2", "addmm": "mat2", "baddbmm": "batch2"}


def argument(call: Call, name: str) -> Any:
    """As given, or as PyTorch's schema says where it was not; None where there is no such argument."""
    if name in call.arguments:
        return call.arguments[name]
    if isinstance(call.target, torch._ops.OpOverload):
        for one in call.target._schema.arguments:
            if one.name == name:
                return one.default_value if one.has_default_value() else None
    return None


def data_name(call: Call) -> str:
    """What comes in is called `input` by layers and `self` by functions."""
    return "input" if "input" in call.arguments else "self"


def right_hand(call: Call) -> str:
    """The factor of a product that is usually the weight."""
    return _RIGHT_HAND[call.op]


def changed(name: str, change: Callable[[Any], Any]) -> Override:
    """The operation with one argument replaced by what is made of it."""
    return lambda call: call.again(**{name: change(argument(call, name))})


def followed_by(function: Callable[[Any], Any]) -> Override:
    return lambda call: function(call.again())


def per_axis(value: int | Sequence[int], axes: int) -> list[int]:
    """PyTorch allows one number for all axes."""
    many = [value] if isinstance(value, int) else list(value)
    return many * axes if len(many) == 1 else many


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()
