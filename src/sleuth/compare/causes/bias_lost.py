"""A layer whose bias is not added, or added twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes import _weights as weights
from sleuth.compare.causes._arguments import (
    CONVOLUTIONS,
    NORMS,
    RECURRENT,
    TRANSPOSED_CONVOLUTIONS,
    argument,
    changed,
    is_floating,
)
from sleuth.compare.reference import Call, Override

_LAYERS = CONVOLUTIONS | TRANSPOSED_CONVOLUTIONS | NORMS | {"linear"}
_CELLS = frozenset({"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"})
OPS = _LAYERS | RECURRENT | _CELLS | {"addmm", "add"}
_LOST = "its bias is lost"
_TWICE = "its bias is added twice"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in RECURRENT:
        yield from _of_recurrent(call)
    elif call.op in _CELLS:
        yield from _of_cell(call)
    else:
        name = "bias" if call.op in _LAYERS else _added(call, target)
        bias = argument(call, name) if name else None
        if isinstance(bias, Tensor) and bool(bias.any()):
            yield _proposal(_LOST, changed(name, torch.zeros_like))
            yield _proposal(_TWICE, changed(name, _doubled))


def _added(call: Call, target: Target) -> str:
    """The operand of a sum that is a learnt vector."""
    for name in ("self",) if call.op == "addmm" else ("other", "self"):
        operand = argument(call, name)
        if is_floating(operand) and operand.ndim == 1 and operand.numel() > 1 and weights.is_weight(operand, target):
            return name
    return ""


def _of_recurrent(call: Call) -> Iterator[Proposal]:
    """A layer has two biases that are added; Keras and others keep one, so that one of the two is easily dropped."""
    if not argument(call, "has_biases"):
        return
    params = call.arguments["params"]
    inner = [place for place, one in enumerate(params) if one.ndim == 1]
    for says, places, factor in (
        ("its biases are lost", inner, 0.0),
        ("its input biases are lost", inner[0::2], 0.0),
        ("its recurrent biases are lost", inner[1::2], 0.0),
        ("its biases are added twice", inner, 2.0),
    ):
        if any(bool(params[place].any()) for place in places):
            yield _proposal(says, changed("params", _scaled_at(places, factor)))


def _scaled_at(places: list[int], factor: float) -> Any:
    return lambda params: [one * factor if place in places else one for place, one in enumerate(params)]


def _of_cell(call: Call) -> Iterator[Proposal]:
    for name, says in (("b_ih", "its input bias is lost"), ("b_hh", "its recurrent bias is lost")):
        bias = argument(call, name)
        if is_floating(bias) and bool(bias.any()):
            yield _proposal(says, changed(name, torch.zeros_like))
    if is_floating(argument(call, "b_ih")) and is_floating(argument(call, "b_hh")):
        yield _proposal("its biases are lost", _without_both)


def _without_both(call: Call) -> Any:
    return call.again(b_ih=torch.zeros_like(call.arguments["b_ih"]), b_hh=torch.zeros_like(call.arguments["b_hh"]))


def _doubled(bias: Tensor) -> Tensor:
    return 2 * bias


def _proposal(says: str, apply: Override) -> Proposal:
    twice = says.endswith("twice")
    fix = (
        "add the bias once: it is in the layer, or folded into another, not both"
        if twice
        else "load the bias too, or use_bias=True"
    )
    return Proposal(says, fix, apply)
