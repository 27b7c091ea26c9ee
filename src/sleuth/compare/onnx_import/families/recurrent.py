"""Recurrent layers as PyTorch's own, their gates in PyTorch's order; those that PyTorch has not, turn by turn."""

from __future__ import annotations

from typing import Any

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.recurrent_turns import turn_by_turn
from sleuth.compare.onnx_import.operations import Step, operation

# Where PyTorch's gates are among ONNX's: i f c o in i o f c; r z n in z r h.
_GATES = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}
_USUAL = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}


@operation("LSTM", "GRU", "RNN")
def _recurrent(b: Builder, s: Step) -> list[Any]:
    if s.get("layout", 0):
        return _batch_first(b, s)
    return _native(b, s) if _is_native(s) else turn_by_turn(b, s)


def _batch_first(b: Builder, s: Step) -> list[Any]:
    s.attributes["layout"] = 0
    s.inputs = [
        b.call(aten.transpose.int, value, 0, 1) if place in (0, 5, 6) and value is not None else value
        for place, value in enumerate(s.inputs)
    ]
    whole, *last = _recurrent(b, s)
    return [b.call(aten.permute.default, whole, [2, 0, 1, 3]), *[b.call(aten.transpose.int, one, 0, 1) for one in last]]


def _is_native(s: Step) -> bool:
    names = [name.lower() for name in s.get("activations") or _USUAL[s.op] * _directions(s)]
    usual = [_USUAL[s.op] * _directions(s)]
    if s.op == "RNN":
        usual.append(["relu"] * _directions(s))
    if names not in usual or s.get("clip") or s.get("input_forget", 0) or (s.op == "LSTM" and s.has(7)):
        return False
    if s.op == "GRU" and not s.get("linear_before_reset", 0):
        return False
    return not s.has(4) or (s.inputs[4].constant and all(length == s.inputs[0].shape[0] for length in s.ints(4)))


def _directions(s: Step) -> int:
    return 2 if s.get("direction", "forward") == "bidirectional" else 1


def _native(b: Builder, s: Step) -> list[Any]:
    value = s.inputs[0]
    reverse = s.get("direction", "forward") == "reverse"
    if reverse:
        value = b.call(aten.flip.default, value, [0])
    count = _directions(s)
    states = [_state(b, s, place, count) for place in ((5, 6) if s.op == "LSTM" else (5,))]
    weights = [one for direction in range(count) for one in _weights(b, s, direction)]
    rest = (weights, s.has(3), 1, 0.0, False, count == 2, False)
    if s.op == "LSTM":
        several = b.call(aten.lstm.input, value, states, *rest)
    elif s.op == "GRU":
        several = b.call(aten.gru.input, value, states[0], *rest)
    else:
        relu = (s.get("activations") or ["tanh"])[0].lower() == "relu"
        several = b.call(aten.rnn_relu.input if relu else aten.rnn_tanh.input, value, states[0], *rest)
    whole, *last = (b.item(several, place) for place in range(3 if s.op == "LSTM" else 2))
    length, batch, width = whole.shape
    apart = b.call(aten.view.default, whole, [length, batch, count, width // count])
    apart = b.call(aten.permute.default, apart, [0, 2, 1, 3])
    return [b.call(aten.flip.default, apart, [0]) if reverse else apart, *last]


def _state(b: Builder, s: Step, place: int, count: int) -> Traced:
    if s.has(place):
        return s.inputs[place]  # type: ignore[no-any-return]
    shape = [count, s.inputs[0].shape[1], s.inputs[2].shape[-1]]
    return b.call(aten.zeros.default, shape, dtype=b.real)


def _weights(b: Builder, s: Step, direction: int) -> list[Traced]:
    """As PyTorch lists them: from the input, from the state, and their biases."""
    order = _GATES[s.op]
    found = [
        (one, b.call(aten.select.int, s.inputs[place], 0, direction))
        for one, place in (("weight_ih", 1), ("weight_hh", 2))
    ]
    if s.has(3):
        both = b.call(aten.select.int, s.inputs[3], 0, direction)
        size = both.shape[0] // 2
        found += [
            (f"bias_{one}", b.call(aten.slice.Tensor, both, 0, place * size, (place + 1) * size))
            for place, one in enumerate(("ih", "hh"))
        ]
    scope, tail = b.scope, "_reverse" if direction else ""
    reordered = []
    for name, weight in found:
        gates = b.call(aten.split_with_sizes.default, weight, [weight.shape[0] // len(order)] * len(order), 0)
        whole = b.call(aten.cat.default, [b.item(gates, gate) for gate in order], 0)
        whole.name = f"{scope}.{name}{tail}" if whole.constant else whole.name
        reordered.append(whole)
    return reordered
