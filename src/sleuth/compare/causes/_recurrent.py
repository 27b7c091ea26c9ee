"""Recurrent layers written out, so that a step may be computed otherwise; arguments are PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes._arguments import argument
from sleuth.compare.reference import Call, Override

LAYERS = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
GATES = {"lstm": ("i", "f", "g", "o"), "gru": ("r", "z", "n")}


@dataclass(frozen=True, slots=True)
class Weights:
    """One layer in one direction; the biases are zeros where there are none."""

    of_input: Tensor
    of_state: Tensor
    input_bias: Tensor
    state_bias: Tensor


State = tuple[Tensor, ...]
# The input's part of all gates, the state before, and the weights: the state after, its first tensor being the output.
Step = Callable[[Tensor, State, Weights], State]


def parameters(call: Call) -> list[Tensor]:
    return list(call.arguments["params"])


def per_direction(call: Call) -> int:
    """How many of the parameters belong to one layer in one direction."""
    return 4 if argument(call, "has_biases") else 2


def regrouped(call: Call, change: Callable[[int, Tensor], Tensor]) -> Any:
    """The layer with each of its parameters changed; the number says which: 0 and 1 the weights, 2 and 3 the biases."""
    size = per_direction(call)
    return call.again(params=[change(place % size, one) for place, one in enumerate(parameters(call))])


def reordered(rows: Tensor, order: Sequence[int]) -> Tensor:
    """The gates' blocks of rows in another order."""
    blocks = rows.chunk(len(order), 0)
    return torch.cat([blocks[one] for one in order], 0)


def computed(call: Call, step: Step) -> tuple[Tensor, ...]:
    """The whole layer with another step: what PyTorch's operation returns, outputs and last states."""
    batch_first, both_ways = argument(call, "batch_first"), argument(call, "bidirectional")
    value = call.arguments["input"].transpose(0, 1) if batch_first else call.arguments["input"]
    start = call.arguments["hx"]
    starts = tuple(start) if isinstance(start, list | tuple) else (start,)
    directions = 2 if both_ways else 1
    ends: list[State] = []
    for layer in range(call.arguments["num_layers"]):
        sides = []
        for backward in range(directions):
            place = layer * directions + backward
            outputs, end = _one_way(
                value, tuple(one[place] for one in starts), _weights(call, place), step, bool(backward)
            )
            sides.append(outputs)
            ends.append(end)
        value = torch.cat(sides, -1)
    last = tuple(torch.stack([end[which] for end in ends]) for which in range(len(starts)))
    return (value.transpose(0, 1) if batch_first else value, *last)


def written_out(step: Step) -> Override:
    return lambda call: computed(call, step)


def _one_way(value: Tensor, state: State, weights: Weights, step: Step, backward: bool) -> tuple[Tensor, State]:
    projected = value @ weights.of_input.T + weights.input_bias
    places = range(len(value))
    outputs: list[Tensor] = [value] * len(value)
    for place in reversed(places) if backward else places:
        state = step(projected[place], state, weights)
        outputs[place] = state[0]
    return torch.stack(outputs), state


def _weights(call: Call, place: int) -> Weights:
    size = per_direction(call)
    own = parameters(call)[place * size : (place + 1) * size]
    nothing = torch.zeros(len(own[0]), dtype=own[0].dtype)
    return Weights(own[0], own[1], *(own[2:] or (nothing, nothing)))


def lstm_step(gate: Callable[[Tensor], Tensor], cell: Callable[[Tensor], Tensor]) -> Step:
    def step(projected: Tensor, state: State, weights: Weights) -> State:
        hidden, memory = state
        gates = projected + hidden @ weights.of_state.T + weights.state_bias
        i, f, g, o = gates.chunk(4, -1)
        memory = gate(f) * memory + gate(i) * cell(g)
        return gate(o) * cell(memory), memory

    return step


def gru_step(gate: Callable[[Tensor], Tensor], cell: Callable[[Tensor], Tensor]) -> Step:
    def step(projected: Tensor, state: State, weights: Weights) -> State:
        (hidden,) = state
        r, z, n = projected.chunk(3, -1)
        hr, hz, hn = (hidden @ weights.of_state.T + weights.state_bias).chunk(3, -1)
        update = gate(z + hz)
        return ((1 - update) * cell(n + gate(r + hr) * hn) + update * hidden,)

    return step


def rnn_step(cell: Callable[[Tensor], Tensor]) -> Step:
    def step(projected: Tensor, state: State, weights: Weights) -> State:
        return (cell(projected + state[0] @ weights.of_state.T + weights.state_bias),)

    return step
