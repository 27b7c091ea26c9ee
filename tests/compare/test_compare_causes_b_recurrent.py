"""Faults in recurrent layers, put into a port, are named; a faithful port is silent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

SIZE, STATE = 6, 5
Told = Callable[..., list[tuple[str, str]]]


class Tagger(nn.Module):
    """A recurrent layer and a linear one on top; `change` is done to the layer's weights once they are loaded."""

    def __init__(self, layer: nn.Module, change: Callable[[nn.Module], None] = lambda layer: None) -> None:
        super().__init__()
        self.layer = layer
        self.head = nn.Linear(STATE * (2 if getattr(layer, "bidirectional", False) else 1), 3)
        self.change = change

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(torch.tanh(self.layer(x)[0]))
        return found


def lstm(**options: object) -> nn.Module:
    return nn.LSTM(SIZE, STATE, batch_first=True, **options)  # type: ignore[arg-type]


def gru(**options: object) -> nn.Module:
    return nn.GRU(SIZE, STATE, batch_first=True, **options)  # type: ignore[arg-type]


def reorder(*order: int) -> Callable[[nn.Module], None]:
    def change(layer: nn.Module) -> None:
        for parameter in layer.parameters():
            blocks = parameter.data.chunk(len(order), 0)
            parameter.data = torch.cat([blocks[one] for one in order], 0)

    return change


def forget_bias(layer: nn.Module) -> None:
    layer.get_parameter("bias_ih_l0").data[STATE : 2 * STATE] += 1


def exchange_directions(layer: nn.Module) -> None:
    pairs = [(name, f"{name}_reverse") for name, _ in layer.named_parameters() if not name.endswith("_reverse")]
    for ahead, back in pairs:
        one, other = layer.get_parameter(ahead), layer.get_parameter(back)
        one.data, other.data = other.data.clone(), one.data.clone()


class Written(nn.Module):
    """The same weights under the same names, each step by hand."""

    def __init__(self, gates: int, step: Callable[..., tuple[Tensor, ...]]) -> None:
        super().__init__()
        for name, shape in (("weight_ih_l0", (gates * STATE, SIZE)), ("weight_hh_l0", (gates * STATE, STATE))):
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))
        for name in ("bias_ih_l0", "bias_hh_l0"):
            self.register_parameter(name, nn.Parameter(torch.zeros(gates * STATE)))
        self.step = step

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        w, u, b, c = (self.get_parameter(f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        state: tuple[Tensor, ...] = (x.new_zeros(x.shape[0], STATE),) * 2
        outputs = []
        for place in range(x.shape[1]):
            state = self.step(x[:, place] @ w.T + b, state, u, c)
            outputs.append(state[0])
        return torch.stack(outputs, 1), None


def reset_before(projected: Tensor, state: tuple[Tensor, ...], u: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    hidden = state[0]
    r, z, n = projected.chunk(3, -1)
    ur, uz, un = u.chunk(3, 0)
    cr, cz, cn = c.chunk(3, 0)
    reset, update = torch.sigmoid(r + hidden @ ur.T + cr), torch.sigmoid(z + hidden @ uz.T + cz)
    new = torch.tanh(n + (reset * hidden) @ un.T + cn)
    return ((1 - update) * new + update * hidden,)


def update_reversed(projected: Tensor, state: tuple[Tensor, ...], u: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    hidden = state[0]
    r, z, n = projected.chunk(3, -1)
    hr, hz, hn = (hidden @ u.T + c).chunk(3, -1)
    update = torch.sigmoid(z + hz)
    return (update * torch.tanh(n + torch.sigmoid(r + hr) * hn) + (1 - update) * hidden,)


def with_functions(
    gate: Callable[[Tensor], Tensor], cell: Callable[[Tensor], Tensor]
) -> Callable[..., tuple[Tensor, ...]]:
    def step(projected: Tensor, state: tuple[Tensor, ...], u: Tensor, c: Tensor) -> tuple[Tensor, ...]:
        i, f, g, o = (projected + state[0] @ u.T + c).chunk(4, -1)
        memory = gate(f) * state[1] + gate(i) * cell(g)
        return gate(o) * cell(memory), memory

    return step


def hard(x: Tensor) -> Tensor:
    return torch.clamp(0.2 * x + 0.5, 0, 1)


class Backwards(nn.Module):
    """What reads the sequence from its end."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        return self.inner(x.flip(1))[0], None


CASES = {
    "gates of an older Keras": (
        Tagger(lstm()),
        Tagger(lstm(), reorder(0, 1, 3, 2)),
        "gate-order-differs",
        "i, f, o, g",
    ),
    "gates of ONNX": (Tagger(lstm()), Tagger(lstm(), reorder(0, 3, 1, 2)), "gate-order-differs", "i, o, f, g"),
    "gates of two layers both ways": (
        Tagger(lstm(num_layers=2, bidirectional=True)),
        Tagger(lstm(num_layers=2, bidirectional=True), reorder(1, 0, 2, 3)),
        "gate-order-differs",
        "f, i, g, o",
    ),
    "gates of a GRU of Keras": (Tagger(gru()), Tagger(gru(), reorder(1, 0, 2)), "gate-order-differs", "z, r, n"),
    "the forget bias": (Tagger(lstm()), Tagger(lstm(), forget_bias), "gate-order-differs", "+1 is added"),
    "directions exchanged": (
        Tagger(lstm(bidirectional=True)),
        Tagger(lstm(bidirectional=True), exchange_directions),
        "gate-order-differs",
        "two directions are exchanged",
    ),
    "read from the end": (Tagger(lstm()), Tagger(Backwards(lstm())), "gate-order-differs", "from its end"),
    "update gate reversed": (Tagger(gru()), Tagger(Written(3, update_reversed)), "gate-order-differs", "update gate"),
    "reset before the product": (
        Tagger(gru()),
        Tagger(Written(3, reset_before)),
        "reset-after-differs",
        "before the product",
    ),
    "a hard sigmoid": (
        Tagger(lstm()),
        Tagger(Written(4, with_functions(hard, torch.tanh))),
        "recurrent-activation-differs",
        "0.2 x + 0.5",
    ),
    "the other hard sigmoid": (
        Tagger(lstm()),
        Tagger(Written(4, with_functions(nn.functional.hardsigmoid, torch.tanh))),
        "recurrent-activation-differs",
        "x / 6 + 0.5",
    ),
    "ReLU for tanh": (
        Tagger(lstm()),
        Tagger(Written(4, with_functions(torch.sigmoid, torch.relu))),
        "recurrent-activation-differs",
        "ReLU, not tanh",
    ),
    "a plain layer with ReLU": (
        Tagger(nn.RNN(SIZE, STATE, batch_first=True)),
        Tagger(nn.RNN(SIZE, STATE, batch_first=True, nonlinearity="relu")),
        "recurrent-activation-differs",
        "ReLU, not tanh",
    ),
}


def same_weights(reference: Tagger, port: Tagger) -> None:
    generator = torch.Generator().manual_seed(2)
    for parameter in reference.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.5
    for own, other in zip(port.parameters(), reference.parameters(), strict=True):
        own.data = other.data.clone()
    port.change(port.layer)


def batch() -> Tensor:
    return torch.randn(3, 7, SIZE, generator=torch.Generator().manual_seed(1)) * 2


@pytest.mark.parametrize("case", CASES)
def test_the_fault_is_named_and_nothing_else(case: str, told: Told) -> None:
    reference, port, diagnosis, words = CASES[case]
    same_weights(reference, port)
    found = told(reference, port, batch())
    assert {one for one, _ in found} == {diagnosis}, found
    assert words in found[0][1]


@pytest.mark.parametrize("written", [Tagger(lstm()), Tagger(gru()), Tagger(lstm(num_layers=2, bidirectional=True))])
def test_a_faithful_port_is_silent(written: Tagger, told: Told) -> None:
    same_weights(written, written)
    assert told(written, written, batch()) == []


def test_a_layer_written_out_rightly_is_silent(told: Told) -> None:
    reference, port = Tagger(lstm()), Tagger(Written(4, with_functions(torch.sigmoid, torch.tanh)))
    same_weights(reference, port)
    assert told(reference, port, batch()) == []


@pytest.mark.parametrize("seed", range(3))
def test_weights_changed_at_random_are_no_order_of_gates(seed: int, told: Told) -> None:
    reference, port = Tagger(lstm()), Tagger(lstm())
    same_weights(reference, port)
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(4 * STATE, generator=generator)
    port.layer.get_parameter("weight_hh_l0").data = port.layer.get_parameter("weight_hh_l0").data[rows]
    found = told(reference, port, batch())
    assert found
    assert not {one for one, _ in found} & {"gate-order-differs", "reset-after-differs", "recurrent-activation-differs"}
