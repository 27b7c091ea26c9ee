"""Faults that a first set of causes took for stale weights, or had no word for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.compare.inputs import Sample
from sleuth.compare.session import compare_sides
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torchscript import TorchScriptSide

Told = Callable[..., list[tuple[str, str]]]
Seeded = Callable[[Callable[[], nn.Module]], nn.Module]
Change = Callable[[nn.Module], None]


def edited(seeded: Seeded, build: Callable[[], nn.Module], change: Callable[..., None]) -> nn.Module:
    model = seeded(build)
    with torch.no_grad():
        change(model)
    return model


class Picture(nn.Module):
    """An image, flattened for a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 6, 3), nn.Linear(6 * 4 * 4, 5)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.fc(self.conv(x).flatten(1))
        return found


def for_channels_last(model: Picture) -> None:
    weight = model.fc.weight
    weight.copy_(weight.view(5, 6, 4, 4).permute(0, 2, 3, 1).reshape(5, -1).clone())


def test_a_weight_that_is_for_values_flattened_channels_last_is_told(told: Told, seeded: Seeded) -> None:
    [(diagnosis, says)] = told(seeded(Picture), edited(seeded, Picture, for_channels_last), torch.randn(4, 3, 6, 6))
    assert diagnosis == "flatten-order-differs"
    assert "6 channels behind 16 places" in says


def test_a_weight_alone_in_half_precision_is_told(told: Told, seeded: Seeded) -> None:
    def rounded(model: Picture) -> None:
        model.conv.weight.copy_(model.conv.weight.half().float())

    [(diagnosis, says)] = told(seeded(Picture), edited(seeded, Picture, rounded), torch.randn(4, 3, 6, 6))
    assert (diagnosis, says) == ("precision-lowered", "its weights are rounded to float16")


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase] = nn.GRU) -> None:
        super().__init__()
        self.rnn = kind(4, 5, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.rnn(x)[0]
        return found


def in_one_layer(*order: int) -> Change:
    def change(model: nn.Module) -> None:
        for name, one in model.named_parameters():
            if name.endswith("_l0_reverse"):
                blocks = one.chunk(len(order))
                one.copy_(torch.cat([blocks[place] for place in order]))

    return change


@pytest.mark.parametrize(
    ("kind", "order", "read"), [(nn.GRU, (1, 0, 2), "z, r, n"), (nn.LSTM, (0, 1, 3, 2), "i, f, o, g")]
)
def test_the_gates_of_one_layer_alone_are_told(
    told: Told, seeded: Seeded, kind: type[nn.RNNBase], order: tuple[int, ...], read: str
) -> None:
    port = edited(seeded, lambda: Recurrent(kind), in_one_layer(*order))
    [(diagnosis, says)] = told(seeded(lambda: Recurrent(kind)), port, torch.randn(3, 7, 4))
    assert diagnosis == "gate-order-differs"
    assert says.startswith(f"the gates of its reversed layer 0 alone are in the order {read}")


class Activated(nn.Module):
    def __init__(self, way: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.second, self.way = nn.Linear(6, 16), nn.Linear(16, 4), way

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.second(self.way(self.first(x)))
        return found


@pytest.mark.parametrize(
    ("own", "other", "says"),
    [
        (functional.elu, lambda x: functional.elu(x, 0.5), "its elu has alpha 0.5, not 1"),
        (
            lambda x: functional.leaky_relu(x, 0.1),
            lambda x: functional.leaky_relu(x, 0.05),
            "its leaky relu has negative slope 0.05, not 0.1",
        ),
    ],
)
def test_the_parameter_of_an_activation_is_told(
    told: Told, seeded: Seeded, own: Callable[[Tensor], Tensor], other: Callable[[Tensor], Tensor], says: str
) -> None:
    found = told(seeded(lambda: Activated(own)), seeded(lambda: Activated(other)), torch.randn(8, 6))
    assert found == [("activation-differs", says)]


class Scores(nn.Module):
    """Attention with a bias a place, without a scale of its own."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.q, self.k, self.bias, self.scale = nn.Linear(8, 8), nn.Linear(8, 8), nn.Parameter(torch.randn(5, 5)), scale

    def forward(self, x: Tensor) -> Tensor:
        product = self.q(x) @ self.k(x).transpose(1, 2)
        product = product * self.scale if self.scale != 1 else product
        return (product + self.bias).softmax(-1) @ x


def test_a_factor_of_one_part_of_a_sum_is_told(told: Told, seeded: Seeded) -> None:
    found = told(seeded(Scores), seeded(lambda: Scores(8**-0.5)), torch.randn(3, 5, 8))
    assert found == [("scale-differs", "the first of its two parts is 1/sqrt(8) times as large")]


@pytest.mark.parametrize(("high", "wide"), [(5, 6), (4, 4)])  # as many as there are channels: any order of axes fits
def test_a_cause_that_an_input_at_the_edge_hides_is_seen_on_the_first(seeded: Seeded, high: int, wide: int) -> None:
    """On zeros every pixel is alike, and what the statistics of the batch make of that is rounding."""

    def build(training: bool) -> nn.Module:
        norm = nn.BatchNorm2d(4, track_running_stats=not training)
        return nn.Sequential(nn.Conv2d(1, 4, 1), norm, nn.Flatten(), nn.Linear(4 * high * wide, 3))

    port = seeded(lambda: build(True))
    samples = [
        Sample("random", (torch.randn(6, 1, high, wide).numpy(),)),
        Sample("zeros", (torch.zeros(6, 1, high, wide).numpy(),)),
    ]
    session = compare_sides(TorchSide(seeded(lambda: build(False))), TorchSide(port), samples)
    named = [one.explanation.diagnosis for one in session.comparison.troubles if one.explanation is not None]
    assert named == ["batch-statistics-in-use"]
    assert len(session.comparison.troubles) == 1


def test_dropout_in_a_trace_is_all_that_is_told() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.3), nn.Linear(64, 4)).eval()
    model[1].train()
    x = torch.randn(16, 8)
    traced = torch.jit.trace(model, x, check_trace=False)
    session = compare_sides(TorchSide(model.eval()), TorchScriptSide(traced), [Sample("random", (x.numpy(),))])
    named = [one.explanation and one.explanation.diagnosis for one in session.comparison.troubles]
    assert named == ["dropout-active"]


class Masked(nn.Module):
    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.fc, self.factor = nn.Linear(6, 6), factor

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.ones(6, 6, dtype=torch.bool).triu(1)
        return (self.factor * self.fc(x)).masked_fill(hidden, float("-inf"))


def test_a_model_may_give_infinities_where_it_masks(seeded: Seeded) -> None:
    samples = [Sample(name, (torch.randn(2, 6, 6).numpy(),)) for name in ("one", "two")]
    same = compare_sides(TorchSide(seeded(Masked)), TorchSide(seeded(Masked)), samples)
    assert same.same
    assert all(one.scores is not None for one in same.tried)
    assert not compare_sides(TorchSide(seeded(Masked)), TorchSide(seeded(lambda: Masked(1.001))), samples).same


class Rms(nn.Module):
    """RMSNorm as people write it, or LayerNorm in its place."""

    def __init__(self, centred: bool = False) -> None:
        super().__init__()
        self.weight, self.centred = nn.Parameter(torch.rand(8) + 0.5), centred

    def forward(self, x: Tensor) -> Tensor:
        if self.centred:
            return functional.layer_norm(x, (8,), self.weight, None, 1e-6)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Normed(nn.Module):
    def __init__(self, centred: bool = False) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(5, 8), Rms(centred), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.last(self.norm(self.first(x)))
        return found


def test_a_layer_norm_for_an_rms_norm_that_is_written_out_is_told(told: Told, seeded: Seeded) -> None:
    found = told(seeded(Normed), seeded(lambda: Normed(True)), torch.randn(6, 5))
    assert found == [("norm-formula-differs", "it subtracts the mean (LayerNorm)")]


class Cell(nn.Module):
    """A cell of a GRU; its reset gate may act before the product with the state."""

    def __init__(self, before: bool = False) -> None:
        super().__init__()
        self.cell, self.before = nn.GRUCell(4, 6), before

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        if not self.before:
            found: Tensor = self.cell(x, h)
            return found
        r, z, n = (x @ self.cell.weight_ih.T + self.cell.bias_ih).chunk(3, -1)
        (wr, wz, wn), (br, bz, bn) = self.cell.weight_hh.chunk(3), self.cell.bias_hh.chunk(3)
        reset, update = torch.sigmoid(r + h @ wr.T + br), torch.sigmoid(z + h @ wz.T + bz)
        return (1 - update) * torch.tanh(n + (reset * h) @ wn.T + bn) + update * h


def test_the_reset_gate_of_a_single_cell_is_told(told: Told, seeded: Seeded) -> None:
    [(diagnosis, _)] = told(seeded(Cell), seeded(lambda: Cell(True)), torch.randn(5, 4), torch.randn(5, 6))
    assert diagnosis == "reset-after-differs"
