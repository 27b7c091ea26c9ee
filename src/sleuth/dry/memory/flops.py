"""How many floating-point operations a call makes, by the formulas that torch itself counts with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

Formula = Callable[..., int]


def formula(operation: Any) -> Formula | None:
    """The formula of an operator; None for those that cost next to nothing beside a matrix product."""
    packet = getattr(operation, "_overloadpacket", None)
    return flop_registry.get(packet) or _ATTENTION_ON_CPU.get(packet)


def _attention(query: Any, key: Any, value: Any, *rest: Any, out_val: Any = None, **options: Any) -> int:
    return int(sdpa_flop_count(query.shape, key.shape, value.shape))


def _attention_backward(grad: Any, query: Any, key: Any, value: Any, *rest: Any, **options: Any) -> int:
    return int(sdpa_backward_flop_count(grad.shape, query.shape, key.shape, value.shape))


# torch has formulas for the kernels of its GPUs; these are what the same call is on a CPU.
_ATTENTION_ON_CPU: dict[Any, Formula] = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}
