"""A recurrent layer with other functions inside: a hard sigmoid at its gates, ReLU for tanh."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._recurrent import LAYERS, Step, gru_step, lstm_step, rnn_step, written_out
from sleuth.compare.reference import Call

OPS = LAYERS
_Function = Callable[[Tensor], Tensor]


def _hard_fifth(value: Tensor) -> Tensor:
    return torch.clamp(0.2 * value + 0.5, 0, 1)


def _softsign(value: Tensor) -> Tensor:
    return value / (1 + value.abs())


_GATES: dict[str, _Function] = {
    "the hard sigmoid 0.2 x + 0.5 (Keras before 3, and ONNX)": _hard_fifth,
    "the hard sigmoid x / 6 + 0.5 (PyTorch, and Keras 3)": torch.nn.functional.hardsigmoid,
    "tanh": torch.tanh,
}
_CELLS: dict[str, _Function] = {
    "ReLU": torch.relu,
    "sigmoid": torch.sigmoid,
    "hard tanh": torch.nn.functional.hardtanh,
    "softsign": _softsign,
    "nothing": lambda value: value,
}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in ("lstm", "gru"):
        made = lstm_step if call.op == "lstm" else gru_step
        for name, gate in _GATES.items():
            yield _proposal(f"its gates use {name}, not the sigmoid", made(gate, torch.tanh))
        for name, cell in _CELLS.items():
            yield _proposal(f"its state goes through {name}, not tanh", made(torch.sigmoid, cell))
        yield _proposal(
            "its state goes through ReLU and its gates through a hard sigmoid", made(_hard_fifth, torch.relu)
        )
        return
    own = "tanh" if call.op == "rnn_tanh" else "ReLU"
    for name, cell in {**_CELLS, "tanh": torch.tanh}.items():
        if name != own:
            yield _proposal(f"its state goes through {name}, not {own}", rnn_step(cell))


def _proposal(says: str, step: Step) -> Proposal:
    return Proposal(says, "give the layer the reference's activation functions", written_out(step))
