"""What rounding may cost beyond what it happens to cost the reference: its run with every result moved a little.

A normalisation of values that are all alike, a choice between scores that tie: there one run in float32 may be exact by
luck and the next correct one far away. Moving each result by less than its own rounding shows how far that carries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import Call, Override, Reference, op_of
from sleuth.compare.values import Batch, Captured, is_real

SHAKES = 2
# Values whose spread is below this part of their mean are alike: what is left once the mean is off is mostly rounding.
_ALIKE = 1e-3
# The mean of n alike numbers may be off by so many times the root of n, in rounding steps: their errors go one way.
_OF_A_MEAN = 4.0
# So many random numbers are used over and over: a prime, so that no axis is in step with them, which a cache holds.
_MANY = 32749
_FURTHER = 7919
# Where the result jumps from one value to another.
_CHOICES = frozenset(
    "topk sort argsort argmax argmin max min kthvalue median mode nonzero gt lt ge le eq ne round floor ceil trunc "
    "sign bucketize searchsorted cummax cummin".split()
)


class Rounding:
    """Moves numbers by up to half a rounding step of `eps`."""

    def __init__(self, eps: float, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self._off = eps * (torch.rand(_MANY, generator=generator, dtype=torch.float64) - 0.5)

    def moved(self, value: Any) -> Any:
        """A tensor in float64; whole numbers are exact in every format that holds them: positions, counts, pixels."""
        if not isinstance(value, Tensor) or value.dtype != torch.float64:
            return value
        result = value.clone(memory_format=torch.contiguous_format)
        for piece, off in self._pieces(result):
            piece.mul_(torch.where(piece == piece.round(), 1.0, 1 + off))
        return result

    def moved_by(self, value: Tensor, steps: Tensor) -> Tensor:
        """Each number by so many steps."""
        result = torch.empty_like(value, memory_format=torch.contiguous_format)
        for piece, off in self._pieces(result):
            piece.copy_(off)
        return value * (1 + steps * result)

    def _pieces(self, value: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        self._off = self._off.roll(_FURTHER)
        for piece in value.view(-1).split(_MANY):
            yield piece, self._off[: len(piece)]


def shaken(reference: Reference, batch: Batch, eps: float, seed: int) -> Captured:
    """A run in float64 in which each result, and each input, is off by up to half a rounding step of `eps`."""
    moved = _moved(Rounding(eps, seed))
    return reference.trace(batch, torch.float64, None, dict.fromkeys(reference.names, moved))


def is_delicate(reference: Reference, truth: Captured) -> bool:
    """Whether a small move may carry far: a choice by numbers, or a norm of values that are all alike."""
    for name in reference.names:
        op = op_of(reference.nodes[name])
        given = [truth.arrays[one] for one in reference.parents(name) if one in truth.arrays]
        if op in _CHOICES and any(map(is_real, given)):
            return True
        if given and is_real(given[0]) and len(reference.nodes[name].args) > 1:
            rows = _rows(op, torch.from_numpy(given[0]), reference.nodes[name].args[1])
            if rows is not None and bool(_alike(rows).any()):
                return True
    return False


def _moved(rounding: Rounding) -> Override:
    def compute(call: Call) -> Any:
        given: Any = call.arguments.get("input")
        how = call.arguments.get("num_groups", call.arguments.get("normalized_shape"))
        rows = _rows(call.op, given, how) if isinstance(given, Tensor) and given.dtype == torch.float64 else None
        if rows is not None and (alike := _alike(rows)).any():
            moved = rounding.moved_by(rows, _OF_A_MEAN * math.sqrt(rows.shape[1]) * alike)
            call = replace(call, arguments={**call.arguments, "input": moved.reshape(given.shape)})
        return torch.utils._pytree.tree_map(rounding.moved, call.again())

    return compute


def _alike(rows: Tensor) -> Tensor:
    return rows.std(1, correction=0, keepdim=True) <= _ALIKE * rows.mean(1, keepdim=True).abs()


def _rows(op: str, given: Tensor, how: Any) -> Tensor | None:
    """What a normalisation takes the mean of, a row each."""
    if not given.numel():
        return None
    if op in ("layer_norm", "native_layer_norm"):
        return given.reshape(-1, math.prod(how))
    if op == "group_norm":
        return given.reshape(given.shape[0] * how, -1)
    return given.reshape(given.shape[0] * given.shape[1], -1) if op == "instance_norm" else None
