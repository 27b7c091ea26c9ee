"""A layer that computes with other weights than the reference has: an older file, one row, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sleuth.compare.align import arranged, arrangements
from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes import _weights as weights
from sleuth.compare.causes._arguments import (
    CONVOLUTIONS,
    NORMS,
    PRODUCTS,
    RECURRENT,
    TRANSPOSED_CONVOLUTIONS,
    is_floating,
)
from sleuth.compare.reference import Call, Override, as_array, as_tensor
from sleuth.compare.values import Array, in_float64

_CELLS = frozenset({"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"})
_PARTS = frozenset(
    {"add", "sub", "mul", "div", "prelu", "expand", "t", "transpose", "permute", "view", "unsqueeze", "cat"}
)
OPS = (
    CONVOLUTIONS
    | TRANSPOSED_CONVOLUTIONS
    | NORMS
    | PRODUCTS
    | RECURRENT
    | _CELLS
    | _PARTS
    | {"linear", "embedding", "einsum"}
)
# A stranger fits whatever the reason why it is one: flipped, transposed, or without its bias.
RANK = 3
_NEVER_LOADED = 2
_MOST = 48
_MOST_ORDERS = 6
# Where in the arguments: by name, and by place where that is a list.
_Where = tuple[str, int | None]
_FRESH = {"weight": 1.0, "bias": 0.0, "running_mean": 0.0, "running_var": 1.0}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in RECURRENT:
        target = weights.as_pytorch_keeps_gates(target, call.op, call.arguments["params"][1].shape[1])
    stale = {
        where: tensor
        for where, tensor in _tensors(call)
        if tensor.numel() > 1 and weights.is_weight(tensor, target) and not weights.held(tensor, target)
    }
    if stale:
        yield from islice(_fresh(call, stale), _MOST)
        yield from islice(_strange(stale, target), _MOST)


def _tensors(call: Call) -> Iterator[tuple[_Where, Tensor]]:
    for name, value in call.arguments.items():
        if is_floating(value):
            yield (name, None), value
        elif isinstance(value, list | tuple):
            yield from (((name, place), one) for place, one in enumerate(value) if is_floating(one))


def _fresh(call: Call, stale: Mapping[_Where, Tensor]) -> Iterator[Proposal]:
    """As a layer is before anything is loaded into it, or a file is where something is missing."""
    fix = "load its weights: they are as a new layer has them"
    if call.op in NORMS:
        untouched = {
            where: torch.full_like(one, _FRESH[where[0]]) for where, one in stale.items() if where[0] in _FRESH
        }
        yield Proposal("its weights were never loaded: ones and zeros", fix, _with(untouched), _NEVER_LOADED)
    for where, tensor in stale.items():
        if tensor.ndim > 1:
            yield Proposal(
                "its weights were never loaded: zeros", fix, _with({where: torch.zeros_like(tensor)}), _NEVER_LOADED
            )


def _strange(stale: Mapping[_Where, Tensor], target: Target) -> Iterator[Proposal]:
    found = {where: list(weights.strangers(tensor, target)) for where, tensor in stale.items()}
    for where, tensor in stale.items():
        for name, array in found[where]:
            for fitted in _orders(array, tensor):
                yield _proposal(name, fitted, tensor, {where: fitted})
    if len(stale) > 1:
        yield from _together(stale, found)


def _together(stale: Mapping[_Where, Tensor], found: Mapping[_Where, list[tuple[str, Array]]]) -> Iterator[Proposal]:
    """Several arrays of one layer: the strangers that share a name but for its end, in the order of the layer's own."""
    first, tensor = next(iter(stale.items()))
    for name, array in found[first]:
        owner = _owner(name)
        chosen: dict[_Where, tuple[str, Array]] = {first: (name, array)}
        for where in list(stale)[1:]:
            taken = {one for one, _ in chosen.values()}
            near = [(n, a) for n, a in found[where] if n not in taken and _owner(n) == owner]
            alike = [one for one in near if where[0].rpartition("_")[2] in one[0].rpartition(".")[2]] or near
            if alike:
                chosen[where] = alike[0]
        if len(chosen) == len(stale):
            fitted = {where: next(_orders(array, stale[where])) for where, (_, array) in chosen.items()}
            yield _proposal(name, fitted[first], tensor, fitted)


def _owner(name: str) -> str:
    return name.replace("/", ".").rpartition(".")[0]


def _orders(array: Array, tensor: Tensor) -> Iterator[Tensor]:
    shape = tuple(tensor.shape)
    for axes in islice(arrangements(array.shape, shape), _MOST_ORDERS):
        yield as_tensor(in_float64(arranged(array, axes, shape)))


def _with(replaced: Mapping[_Where, Tensor]) -> Override:
    def apply(call: Call) -> Any:
        arguments: dict[str, Any] = {}
        for (name, place), tensor in replaced.items():
            own = arguments.get(name, call.arguments[name])
            if place is None:
                arguments[name] = tensor.to(own.dtype)
            else:
                arguments[name] = [tensor.to(one.dtype) if at == place else one for at, one in enumerate(own)]
        return call.again(**arguments)

    return apply


def _proposal(name: str, fitted: Tensor, tensor: Tensor, replaced: Mapping[_Where, Tensor]) -> Proposal:
    off = np.abs(as_array(fitted) - as_array(tensor))
    rows = int((off.reshape(off.shape[0], -1).max(1) > 0).sum())
    where = f"{rows} of its {off.shape[0]} rows differ, by up to {off.max():.2g}"
    return Proposal(
        "its weights are not the reference's", f"load {name} again from the reference: {where}", _with(replaced), RANK
    )
