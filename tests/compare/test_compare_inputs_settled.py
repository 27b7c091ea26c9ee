"""What a model takes is found out by its own word, by the other side's, or by a guess that it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare import fit
from sleuth.compare.inputs import settle
from sleuth.compare.opening import open_side
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Array, Batch, Input


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


class Layers(nn.Module):
    """Made of named parts, computed by what a test says."""

    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


class Flattened(Layers):
    def forward(self, image: Tensor) -> Any:
        return self.head(nn.functional.max_pool2d(self.conv(image), 2).flatten(1))


class Words(Layers):
    def forward(self, ids: Tensor) -> Any:
        assert ids.shape[1] <= 16
        return self.table(ids) + self.places(torch.arange(ids.shape[1]))


class Patches(Layers):
    def __init__(self) -> None:
        super().__init__(conv=nn.Conv2d(3, 8, 8, 8))
        self.places = nn.Parameter(torch.randn(1, 50, 8))

    def forward(self, image: Tensor) -> Any:
        patches = self.conv(image).flatten(2).transpose(1, 2)
        return torch.cat([patches[:, :1], patches], 1) + self.places


class Recommender(Layers):
    def forward(self, dense: Tensor, ids: Tensor) -> Any:
        return self.head(self.table(ids).mean(1) + self.numbers(dense))


class Timed(Layers):
    def forward(self, x: Tensor, t: Tensor) -> Any:
        return self.conv(x) + self.time(t[:, None])[:, :, None, None]


class Padded(Layers):
    def forward(self, ids: Tensor, padding_mask: Tensor) -> Any:
        return self.encoder(self.table(ids), src_key_padding_mask=padding_mask)


class Packed(Layers):
    def forward(self, ids: Tensor, lengths: Tensor) -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(self.table(ids), lengths, True, enforce_sorted=False)
        return self.rnn(packed)[1]


class Multiplied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(7, 3))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


class Translated(Layers):
    def forward(self, source: Tensor, target: Tensor) -> Any:
        return self.transformer(self.table(source), self.table(target))


GUESSED = [
    (Flattened(conv=nn.Conv2d(1, 4, 5), head=nn.Linear(4 * 15 * 15, 3)), [("image", (2, 1, 34, 34), "float32")]),
    (Words(table=nn.Embedding(30, 8), places=nn.Embedding(16, 8)), [("ids", (2, 16), "int64")]),
    (Patches(), [("image", (2, 3, 56, 56), "float32")]),
    (
        Recommender(table=nn.Embedding(30, 8), numbers=nn.Linear(5, 8), head=nn.Linear(8, 2)),
        [("dense", (2, 5), "float32"), ("ids", (2, 16), "int64")],
    ),
    (
        Timed(conv=nn.Conv2d(3, 8, 3, padding=1), time=nn.Linear(1, 8)),
        [("x", (2, 3, 32, 32), "float32"), ("t", (2,), "float32")],
    ),
    (
        Padded(table=nn.Embedding(30, 8), encoder=nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)),
        [("ids", (2, 16), "int64"), ("padding_mask", (2, 16), "bool")],
    ),
    (
        Packed(table=nn.Embedding(30, 8), rnn=nn.GRU(8, 4, batch_first=True)),
        [("ids", (2, 16), "int64"), ("lengths", (2,), "int64")],
    ),
    (
        Translated(table=nn.Embedding(30, 8), transformer=nn.Transformer(8, 2, 1, 1, 16, batch_first=True)),
        [("source", (2, 16), "int64"), ("target", (2, 16), "int64")],
    ),
    (nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 10)), [("input", (2, 784), "float32")]),
    (nn.Sequential(nn.Conv1d(6, 8, 3), nn.AdaptiveAvgPool1d(1)), [("input", (2, 6, 16), "float32")]),
    (nn.Sequential(nn.BatchNorm2d(5), nn.ReLU()), [("input", (2, 5, 32, 32), "float32")]),
    (nn.LSTM(12, 4), [("input", (2, 16, 12), "float32")]),
    (Multiplied(), [("x", (2, 16, 7), "float32")]),
]


@pytest.mark.parametrize(("model", "inputs"), GUESSED, ids=[type(one).__name__ for one, _ in GUESSED])
def test_a_guess_from_the_first_layers_is_one_that_runs(model: nn.Module, inputs: list[Any]) -> None:
    side = open_side(model)
    example = settle(side)
    assert [(one.name, one.shape, one.dtype) for one in side.inputs] == inputs
    assert side.run(example)


def test_what_cannot_be_guessed_is_asked_for_in_one_line() -> None:
    class Strange(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.reshape(11, 13, 17)

    with pytest.raises(CannotCompare) as caught:
        settle(open_side(Strange()))
    assert str(caught.value) == "Strange: say what it takes: --inputs FILE.npz, or return (model, example_inputs)"


def test_a_fault_in_the_users_forward_is_told_with_its_line_and_not_taken_for_a_wrong_guess() -> None:
    class Misspelt(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return y  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(CannotCompare, match=r"test_compare_inputs_settled.py:\d+: Misspelt fails: NameError: name 'y'"):
        settle(open_side(Misspelt()))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_forward_that_needs_a_gpu_is_told_as_that() -> None:
    class Moves(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.cuda()

    with pytest.raises(CannotCompare, match="needs a GPU, and there is none here"):
        settle(open_side(Moves()))


def test_what_a_trial_prints_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    class Speaks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            print("forward", x.shape)
            return x

    settle(open_side(Speaks()))
    assert capsys.readouterr().out == ""


class Told(Side):
    """A runtime that knows its inputs and adds them up."""

    def __init__(self, *inputs: Input, title: str = "told") -> None:
        self.inputs = inputs
        self.title = title

    def run(self, batch: Batch) -> list[Array]:
        for one, array in zip(self.inputs, batch, strict=True):
            assert fit.has_shape(array.shape, one.shape)
            assert array.dtype.name == one.dtype
        return [sum(np.asarray(array, np.float32).reshape(len(array), -1).sum(1) for array in batch)]


def test_the_other_sides_names_and_sizes_are_taken_on() -> None:
    class Both(nn.Module):
        def forward(self, ids: Tensor, mask: Tensor | None = None, more: Tensor | None = None) -> Tensor:
            assert mask is not None
            return (ids * mask).float()

    side = open_side(Both())
    example = settle(side, Told(Input("mask", (None, 12), "int64"), Input("ids", (None, 12), "int64")))
    assert [(one.name, one.shape) for one in side.inputs] == [("mask", (2, 12)), ("ids", (2, 12))]
    assert example[0].all()


def test_channels_last_on_the_other_side_is_channels_first_in_a_convolution() -> None:
    side = open_side(nn.Conv2d(3, 4, 3))
    target = Told(Input("image", (None, None, None, 3), "float32"))
    example = settle(side, target)
    assert example[0].shape == (2, 3, 32, 32)
    assert fit.to(target, side, example)[0].shape == (2, 32, 32, 3)


def test_a_module_on_the_other_side_learns_its_layout_too() -> None:
    reference = Told(Input("image", (None, 20, 24, 3), "float32"))
    target = open_side(nn.Conv2d(3, 4, 3))
    example = settle(reference, target)
    assert example[0].shape == (2, 20, 24, 3)
    assert fit.to(target, reference, example)[0].shape == (2, 3, 20, 24)


def test_an_example_is_brought_to_the_sizes_that_the_other_side_has_fixed() -> None:
    side = open_side((nn.Conv2d(3, 4, 3), torch.randn(5, 3, 40, 40)))
    assert settle(side, Told(Input("image", (1, 3, 16, 16), "float32")))[0].shape == (1, 3, 16, 16)
    assert settle(side, Told(Input("image", (1, 16, 16, 3), "float32")))[0].shape == (1, 3, 16, 16)


def test_ids_of_32_bits_and_of_64_go_together() -> None:
    side = open_side(nn.Embedding(10, 4))
    target = Told(Input("ids", (None, 6), "int32"))
    example = settle(side, target)
    assert fit.to(target, side, example)[0].dtype == np.int32


def test_a_port_that_cannot_take_what_the_reference_takes_is_one_line_with_both() -> None:
    with pytest.raises(CannotCompare) as caught:
        settle(open_side(nn.Linear(4, 2)), open_side((nn.Conv2d(3, 4, 3), torch.zeros(1, 3, 8, 8))))
    assert str(caught.value) == "Conv2d: input input takes 1 x 3 x 8 x 8 float32, and was given 2 x 4 float32"


def test_a_module_and_its_port_are_settled_together() -> None:
    reference, target = open_side(nn.Linear(4, 2)), open_side(nn.Linear(4, 2))
    example = settle(reference, target)
    assert target.run(fit.to(target, reference, np.ones((9, 4), np.float32)[None]))[0].shape[-1] == 2
    assert example[0].shape[-1] == 4
