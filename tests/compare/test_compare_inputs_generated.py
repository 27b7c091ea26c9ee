"""Generated inputs stay within what the models may be given, and reach the edges of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.inputs import Sample, generated, limits_of, settle
from sleuth.compare.opening import open_side
from sleuth.compare.side import Side
from sleuth.compare.sides.torch_ import TorchSide


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


class Words(nn.Module):
    def __init__(self, rows: int = 30, longest: int = 40) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, 8)
        self.places = nn.Embedding(longest, 8)

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Any:
        hidden = self.table(ids) + self.places(torch.arange(ids.shape[1]))
        return hidden if attention_mask is None else hidden * attention_mask[..., None]


def by_label(samples: list[Sample]) -> dict[str, Sample]:
    return {one.label: one for one in samples}


def test_floats_are_tried_at_random_and_at_the_edges() -> None:
    samples = by_label(generated(open_side(nn.Conv2d(3, 4, 3))))
    assert list(samples) == [
        "random",
        "between 0 and 1",
        "zeros",
        "constant",
        "large",
        "tiny",
        "denormal",
        "mixed signs and sizes",
        "batch of 1",
        "images of 3 x 48 x 40",
    ]
    assert samples["random"].batch[0].shape == (8, 3, 32, 32)
    assert not samples["zeros"].batch[0].any()
    assert samples["between 0 and 1"].batch[0].min() >= 0
    assert abs(samples["large"].batch[0]).mean() > 50
    tiny = abs(samples["denormal"].batch[0])
    assert ((tiny > 0) & (tiny < np.finfo(np.float32).tiny)).any()
    assert tiny[1:].max() > 1
    assert all(one.batch[0].dtype == np.float32 for one in samples.values())


def test_ids_are_rows_of_the_table_and_reach_its_last() -> None:
    side = open_side(Words())
    samples = by_label(generated(side))
    assert limits_of(side, samples["random"].batch)["ids"].most == 29
    assert samples["random"].batch[0].max() <= 29
    assert len(np.unique(samples["random"].batch[0])) > 15
    assert (samples["last id only"].batch[0] == 29).all()
    assert not samples["padding only"].batch[0].any()


def test_the_longest_sequence_is_the_one_that_the_positions_have_room_for() -> None:
    samples = by_label(generated(open_side(Words(longest=40))))
    assert samples["length 40"].batch[0].shape == (2, 40)
    assert samples["length 1"].batch[0].shape == (2, 1)
    assert len(np.unique(samples["length 40"].batch[0][:, 16:])) > 10


def test_a_mask_has_padding_at_the_end_and_a_word_in_every_row() -> None:
    side = open_side(
        (Words(), {"ids": torch.zeros(2, 12, dtype=torch.int64), "attention_mask": torch.ones(2, 12).long()})
    )
    mask = by_label(generated(side))["random"].batch[1]
    assert mask[:, 0].all()
    assert not mask.all()
    assert (np.diff(mask, axis=1) <= 0).all()


def test_ids_with_something_added_keep_below_the_table() -> None:
    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(20, 4)

        def forward(self, ids: Tensor) -> Any:
            return self.table(ids.view(-1).view(ids.shape) + 2)

    side = open_side(Shifted())
    samples = generated(side)
    assert limits_of(side, samples[0].batch)["ids"].most == 17


def test_a_scripted_model_that_tells_nothing_is_given_ids_too() -> None:
    torch.manual_seed(0)
    side = open_side(torch.jit.script(nn.Sequential(nn.Embedding(20, 4), nn.Linear(4, 2))))
    assert limits_of(side, settle(side))["input_0"].most == 19
    assert generated(side)[0].batch[0].max() > 15


def test_bytes_of_an_image_are_drawn_from_all_of_them() -> None:
    class Bytes(nn.Module):
        def forward(self, image: Tensor) -> Tensor:
            return image.float() / 255

    side = open_side((Bytes(), torch.zeros(2, 8, 8, 3, dtype=torch.uint8)))
    drawn = generated(side)[0].batch[0]
    assert drawn.dtype == np.uint8
    assert drawn.max() > 200


def test_the_smaller_vocabulary_of_the_two_counts() -> None:
    samples = generated(open_side(Words(30)), open_side(Words(20)))
    assert max(one.batch[0].max() for one in samples) == 19


def test_what_the_reference_has_no_number_for_is_left_out_and_told() -> None:
    class Root(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.abs().sum(1, keepdim=True).reciprocal()

    told: list[str] = []
    samples = by_label(generated(open_side((Root(), torch.randn(2, 3))), told=told.append))
    assert "random" in samples
    assert "zeros" not in samples
    assert "zeros: left out, Root itself gives numbers that are not finite" in told


def test_the_same_seed_gives_the_same_inputs_and_another_others() -> None:
    side = open_side(nn.Linear(4, 2))
    first, again, other = (generated(side, seed=seed) for seed in (1, 1, 2))
    for one, same in zip(first, again, strict=True):
        assert one.label == same.label
        assert all(np.array_equal(a, b) for a, b in zip(one.batch, same.batch, strict=True))
    assert not np.array_equal(first[0].batch[0], other[0].batch[0])


class Fixed(TorchSide):
    """A module that, as an exported file, takes one size alone."""

    def __init__(self, model: nn.Module, example: Tensor) -> None:
        super().__init__(model)
        self.learn_inputs((example,))
        self.learnt = False


@pytest.mark.parametrize("fixed_first", [True, False])
def test_sizes_that_one_of_them_has_fixed_are_kept(fixed_first: bool) -> None:
    model = nn.Conv2d(3, 4, 3)
    fixed: Side = Fixed(model, torch.randn(2, 3, 16, 16))
    free: Side = open_side(model)
    samples = generated(*((fixed, free) if fixed_first else (free, fixed)))
    assert {one.batch[0].shape for one in samples} == {(2, 3, 16, 16)}
    assert len(samples) == 8


def test_a_size_that_only_the_target_rejects_is_left_out_and_told() -> None:
    class Baked(nn.Module):
        def __init__(self, model: nn.Module) -> None:
            super().__init__()
            self.model = model

        def forward(self, x: Tensor) -> Any:
            return self.model(x).reshape(8, -1, 4)

    class Plain(Baked):
        def forward(self, x: Tensor) -> Any:
            return self.model(x)

    told: list[str] = []
    example = torch.randn(8, 5, 3)
    reference, target = open_side((Plain(nn.Linear(3, 4)), example)), open_side((Baked(nn.Linear(3, 4)), example))
    labels = [one.label for one in generated(reference, target, told=told.append)]
    assert "batch of 1" not in labels
    assert any(line.startswith("batch of 1: left out, Baked rejects it: ") for line in told)
