"""Recurrent layers by their definition, one turn after the other: peepholes, other activations, uneven lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step

Function = Callable[[Traced], Traced]
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_ALPHAS = {"leakyrelu": 0.01, "elu": 1.0, "hardsigmoid": 0.2, "thresholdedrelu": 1.0}


def turn_by_turn(b: Builder, s: Step) -> list[Any]:
    way = s.get("direction", "forward")
    ways = [False, True] if way == "bidirectional" else [way == "reverse"]
    results = [_Layer(b, s, place).run(backwards) for place, backwards in enumerate(ways)]
    wholes, *last = zip(*results, strict=True)
    return [b.call(aten.stack.default, list(wholes), 1), *[b.call(aten.stack.default, list(one), 0) for one in last]]


class _Layer:
    """One direction."""

    def __init__(self, b: Builder, s: Step, direction: int) -> None:
        self.b, self.s = b, s
        self.weight, self.again = (b.call(aten.select.int, s.inputs[place], 0, direction) for place in (1, 2))
        self.size = self.again.shape[-1]
        self.biases: list[Any] = [None, None]
        if s.has(3):
            both = b.call(aten.select.int, s.inputs[3], 0, direction)
            half = both.shape[0] // 2
            self.biases = [b.call(aten.slice.Tensor, both, 0, start, start + half) for start in (0, half)]
        self.states = [self._first(place, direction) for place in ((5, 6) if s.op == "LSTM" else (5,))]
        self.peepholes = b.call(aten.select.int, s.inputs[7], 0, direction) if s.op == "LSTM" and s.has(7) else None
        count = len(_USUAL[s.op])
        names = (s.get("activations") or _USUAL[s.op] * (direction + 1))[count * direction : count * (direction + 1)]
        self.functions = [self._function(name, count * direction + place) for place, name in enumerate(names)]

    def run(self, backwards: bool) -> list[Traced]:
        """All states, and the last."""
        b, value = self.b, self.s.inputs[0]
        turns: dict[str, Callable[..., list[Traced]]] = {"LSTM": self._lstm, "GRU": self._gru, "RNN": self._rnn}
        turn = turns[self.s.op]
        rows: list[Any] = [None] * value.shape[0]
        order = range(value.shape[0])
        for time in reversed(order) if backwards else order:
            states = turn(b.call(aten.select.int, value, 0, time), *self.states)
            states, rows[time] = self._within_length(time, states)
            self.states = states
        return [b.call(aten.stack.default, rows, 0), *self.states]

    def _within_length(self, time: int, states: list[Traced]) -> tuple[list[Traced], Traced]:
        """After a sequence's end its states stand still, and what is given out is zero."""
        if not self.s.has(4):
            return states, states[0]
        b = self.b
        alive = b.call(aten.unsqueeze.default, b.call(aten.gt.Scalar, self.s.inputs[4], time), 1)
        held = [b.call(aten.where.self, alive, new, old) for new, old in zip(states, self.states, strict=True)]
        return held, b.call(aten.where.self, alive, states[0], b.call(aten.zeros_like.default, states[0]))

    def _first(self, place: int, direction: int) -> Traced:
        if self.s.has(place):
            return self.b.call(aten.select.int, self.s.inputs[place], 0, direction)
        return self.b.call(aten.zeros.default, [self.s.inputs[0].shape[1], self.size], dtype=self.b.real)

    def _parts(self, whole: Traced, count: int) -> list[Traced]:
        several = self.b.call(aten.split_with_sizes.default, whole, [whole.shape[-1] // count] * count, -1)
        return [self.b.item(several, place) for place in range(count)]

    def _sum(self, *terms: Traced | None) -> Traced:
        first, *rest = [term for term in terms if term is not None]
        for term in rest:
            first = self.b.call(aten.add.Tensor, first, term)
        return first

    def _times(self, left: Traced, right: Traced) -> Traced:
        return self.b.call(aten.mul.Tensor, left, right)

    def _both(self, value: Traced, state: Traced) -> tuple[Traced, Traced]:
        b = self.b
        return (
            b.call(aten.linear.default, value, self.weight, self.biases[0]),
            b.call(aten.linear.default, state, self.again, self.biases[1]),
        )

    def _rnn(self, value: Traced, state: Traced) -> list[Traced]:
        return [self.functions[0](self._clipped(self._sum(*self._both(value, state))))]

    def _gru(self, value: Traced, state: Traced) -> list[Traced]:
        gate, candidate = self.functions
        ours, again = self._both(value, state)
        (z_in, r_in, n_in), (z_re, r_re, n_re) = self._parts(ours, 3), self._parts(again, 3)
        z = gate(self._clipped(self._sum(z_in, z_re)))
        r = gate(self._clipped(self._sum(r_in, r_re)))
        if self.s.get("linear_before_reset", 0):
            inner = self._times(r, n_re)
        else:
            part = self.b.call(aten.slice.Tensor, self.again, 0, 2 * self.size, 3 * self.size)
            bias = self.biases[1] and self.b.call(aten.slice.Tensor, self.biases[1], 0, 2 * self.size, 3 * self.size)
            inner = self.b.call(aten.linear.default, self._times(r, state), part, bias)
        n = candidate(self._clipped(self._sum(n_in, inner)))
        return [self._sum(self._times(self.b.call(aten.rsub.Scalar, z, 1), n), self._times(z, state))]

    def _lstm(self, value: Traced, state: Traced, cell: Traced) -> list[Traced]:
        gate, candidate, shown = self.functions
        i, o, f, c = self._parts(self._sum(*self._both(value, state)), 4)
        peeps = self._parts(self.peepholes, 3) if self.peepholes is not None else [None] * 3
        i_peep, o_peep, f_peep = peeps
        i = gate(self._clipped(self._sum(i, i_peep and self._times(i_peep, cell))))
        if self.s.get("input_forget", 0):
            f = self.b.call(aten.rsub.Scalar, i, 1)
        else:
            f = gate(self._clipped(self._sum(f, f_peep and self._times(f_peep, cell))))
        cell = self._sum(self._times(f, cell), self._times(i, candidate(self._clipped(c))))
        o = gate(self._clipped(self._sum(o, o_peep and self._times(o_peep, cell))))
        return [self._times(o, shown(cell)), cell]

    def _clipped(self, value: Traced) -> Traced:
        edge = self.s.get("clip")
        return self.b.call(aten.clamp.default, value, -edge, edge) if edge else value

    def _function(self, name: str, place: int) -> Function:
        b, kind = self.b, name.lower()
        alphas, betas = self.s.get("activation_alpha") or [], self.s.get("activation_beta") or []
        alpha = alphas[place] if place < len(alphas) else _ALPHAS.get(kind, 1.0)
        beta = betas[place] if place < len(betas) else (0.5 if kind == "hardsigmoid" else 0.0)

        def line(value: Traced) -> Traced:
            return b.call(aten.add.Tensor, b.call(aten.mul.Tensor, value, alpha), beta)

        known: dict[str, Function] = {
            "sigmoid": lambda value: b.call(aten.sigmoid.default, value),
            "tanh": lambda value: b.call(aten.tanh.default, value),
            "relu": lambda value: b.call(aten.relu.default, value),
            "softplus": lambda value: b.call(aten.softplus.default, value),
            "affine": line,
            "hardsigmoid": lambda value: b.call(aten.clamp.default, line(value), 0, 1),
            "leakyrelu": lambda value: b.call(aten.leaky_relu.default, value, alpha),
            "elu": lambda value: b.call(aten.elu.default, value, alpha),
            "thresholdedrelu": lambda value: b.call(aten.threshold.default, value, alpha, 0),
            "scaledtanh": lambda value: b.call(
                aten.mul.Tensor, b.call(aten.tanh.default, b.call(aten.mul.Tensor, value, beta)), alpha
            ),
            "softsign": lambda value: b.call(
                aten.div.Tensor, value, b.call(aten.add.Tensor, b.call(aten.abs.default, value), 1)
            ),
        }
        if kind not in known:
            raise self.s.refuse(f"with the activation {name}")
        return known[kind]
