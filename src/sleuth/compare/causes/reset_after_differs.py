"""A GRU whose reset gate acts before the product with the state, where the reference's acts after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument
from sleuth.compare.causes._recurrent import State, Step, Weights, written_out
from sleuth.compare.reference import Call, Override

OPS = frozenset({"gru", "gru_cell"})
_FIX = "use the variant that the weights were trained with: reset_after=True in Keras, linear_before_reset=1 in ONNX"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    ways = {
        "the reset gate is applied to the state before the product, not to the product": _before(False, True),
        "the reset gate is applied to the state before the product, and a bias is lost": _before(False, False),
        "the reset gate is applied to the state before the product, and there is but one bias": _before(True, True),
        "the reset gate is applied to the product without its bias": _after_without_bias,
    }
    whole = _one_step if call.op == "gru_cell" else written_out
    return [Proposal(says, _FIX, whole(step)) for says, step in ways.items()]


def _one_step(step: Step) -> Override:
    def apply(call: Call) -> Any:
        own = call.arguments
        nothing = torch.zeros(len(own["w_ih"]), dtype=own["w_ih"].dtype)
        biases = [nothing if argument(call, name) is None else own[name] for name in ("b_ih", "b_hh")]
        weights = Weights(own["w_ih"], own["w_hh"], *biases)
        return step(own["input"] @ weights.of_input.T + weights.input_bias, (own["hx"],), weights)[0]

    return apply


def _before(one_bias: bool, with_bias: bool) -> Step:
    """`one_bias`: no bias of the state at all."""

    def step(projected: Tensor, state: State, weights: Weights) -> State:
        (hidden,) = state
        bias = torch.zeros_like(weights.state_bias) if one_bias else weights.state_bias
        wr, wz, wn = weights.of_state.chunk(3, 0)
        br, bz, bn = bias.chunk(3, 0)
        r, z, n = projected.chunk(3, -1)
        reset, update = torch.sigmoid(r + hidden @ wr.T + br), torch.sigmoid(z + hidden @ wz.T + bz)
        new = torch.tanh(n + (reset * hidden) @ wn.T + bn * with_bias)
        return ((1 - update) * new + update * hidden,)

    return step


def _after_without_bias(projected: Tensor, state: State, weights: Weights) -> State:
    (hidden,) = state
    r, z, n = projected.chunk(3, -1)
    hr, hz, hn = (hidden @ weights.of_state.T).chunk(3, -1)
    br, bz, bn = weights.state_bias.chunk(3, 0)
    update = torch.sigmoid(z + hz + bz)
    new = torch.tanh(n + bn + torch.sigmoid(r + hr + br) * hn)
    return ((1 - update) * new + update * hidden,)
