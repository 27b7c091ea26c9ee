"""What rounding may cost beyond what it happens to cost the reference: its run with every result moved a little.

A normalisation of values that are all alike, a choice between scores that tie: there one run in float32 may be exact by
luck and the next correct one far away. Moving each result by less than its own rounding shows how far that carries."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import Call, Override, Reference
from sleuth.compare.values import Batch, Captured

SHAKES = 2
# Values whose spread is below this part of their mean are alike: what is left once the mean is off is mostly rounding.
_ALIKE = 1e-3
# The mean of n alike numbers may be off by so many times the root of n, in rounding steps: their errors go one way.
_OF_A_MEAN = 4.0


def shaken(reference: Reference, batch: Batch, eps: float, seed: int) -> Captured:
    """A run in float64 in which each result, and each input, is off by up to half a rounding step of `eps`."""
    moved = _moved(eps, torch.Generator().manual_seed(seed))
    return reference.trace(batch, torch.float64, None, dict.fromkeys(reference.names, moved))


def moved_by_rounding(value: Any, eps: float, generator: torch.Generator) -> Any:
    """A tensor in float64, each number off by up to half a step."""
    if not isinstance(value, Tensor) or value.dtype != torch.float64:
        return value
    # Whole numbers are exact in every format that holds them: positions, counts, pixels.
    return torch.where(value == value.round(), value, value * (1 + _off(value, eps, generator)))


def _off(value: Tensor, eps: float, generator: torch.Generator) -> Tensor:
    return eps * (torch.rand(value.shape, generator=generator, dtype=torch.float64) - 0.5)


def _moved(eps: float, generator: torch.Generator) -> Override:
    def rounded(value: Any) -> Any:
        return moved_by_rounding(value, eps, generator)

    def compute(call: Call) -> Any:
        rows = _normalised(call)
        if rows is None:
            return torch.utils._pytree.tree_map(rounded, call.again())
        alike = rows.std(1, correction=0, keepdim=True) <= _ALIKE * rows.mean(1, keepdim=True).abs()
        steps = _OF_A_MEAN * math.sqrt(rows.shape[1]) * alike
        moved = rows * (1 + steps * _off(rows, eps, generator))
        return torch.utils._pytree.tree_map(rounded, call.again(input=moved.reshape(call.arguments["input"].shape)))

    return compute


def _normalised(call: Call) -> Tensor | None:
    """What a normalisation takes the mean of, a row each."""
    given = call.arguments.get("input")
    if not isinstance(given, Tensor) or given.dtype != torch.float64 or not given.numel():
        return None
    if call.op in ("layer_norm", "native_layer_norm"):
        return given.reshape(-1, math.prod(call.arguments["normalized_shape"]))
    if call.op == "group_norm":
        return given.reshape(given.shape[0] * call.arguments["num_groups"], -1)
    return given.reshape(given.shape[0] * given.shape[1], -1) if call.op == "instance_norm" else None
