"""A program that asks for numbers nobody knows is given some with which it goes on, and they are written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from faking import assumed, fake_stage  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Any]:
    with fake_stage(tmp_path) as stage:
        yield stage


def scores(*shape: int) -> Any:
    """Something that depends on weights."""
    return nn.Parameter(torch.randn(*shape)) * 2


def test_a_number_is_assumed_and_written_down(stage: Any, tmp_path: Path) -> None:
    loss = scores(3).sum()
    assert loss.item() == float(loss) == 1.0
    assert f"{loss:.4f}" == "1.0000"
    assert int(scores(3).argmax()) == 0
    assert assumed(tmp_path)[:2] == [".item() assumed 1.0", ".item() assumed 1.0"]
    assert stage.journal.assumptions


def test_a_tensor_is_shown_by_its_type_shape_and_device(stage: Any) -> None:
    assert str(scores(2, 3)) == repr(scores(2, 3)) == "<float32[2, 3] on cpu>"
    assert f"{scores(3).sum()}" == "1.0"


def test_on_a_card_it_is_shown_there_and_gives_no_array(tmp_path: Path) -> None:
    with fake_stage(tmp_path, device="cuda"):
        x = scores(2, 3).detach().cuda()
        assert str(x) == "<float32[2, 3] on cuda:0>"
        with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
            x.numpy()
        assert x.cpu().numpy().shape == (2, 3)


def test_lists_and_arrays_have_the_right_shape(stage: Any) -> None:
    assert scores(2, 2).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert scores(2, 3).detach().numpy().shape == (2, 3)
    assert scores(2, 3).argmax(1).numpy().dtype == "int64"
    with pytest.raises(RuntimeError, match="requires grad"):
        scores(2).numpy()


def test_known_numbers_stay_known(stage: Any) -> None:
    labels = torch.tensor([3, 1, 2])
    assert (labels + 1).tolist() == [4, 2, 3]
    assert labels.max().item() == 3
    assert torch.arange(5).sum() == 10
    assert not stage.journal.assumptions


def test_checks_pass_however_often_they_are_made(stage: Any) -> None:
    for _ in range(8):
        x = scores(4)
        assert torch.isfinite(x).all()
        assert (x < 10).all(), "one of the user's"
        assert not torch.isnan(x).any()
        if torch.isnan(x).any():
            raise AssertionError
        if not (x > 0).all():
            raise AssertionError
        if x.abs().max() > 1e6 or x.isinf().any():
            raise AssertionError
        if x.isnan().sum().item() > 0:
            raise AssertionError
        if (x > 0).any():
            pass
        else:
            raise AssertionError


def test_loops_that_depend_on_numbers_end(stage: Any) -> None:
    rounds = 0
    while scores(3).sum() > 0.1:
        rounds += 1
    while not (scores(3) > 0).all():
        rounds += 1
    while True:
        rounds += 1
        if scores(3).sum() > 0.1:
            break
    assert 3 <= rounds <= 12


def test_loops_that_depend_on_an_item_end(stage: Any) -> None:
    rounds = 0
    while scores(3).sum().item() > 0.1:
        rounds += 1
    error = 1.0
    while error < 1000:
        error = float(scores(3).norm())
        rounds += 1
    while True:
        rounds += 1
        if scores(3).argmax().item() == -(10**9):
            break
    assert 3 <= rounds <= 30


def test_both_sides_of_a_condition_are_seen_after_a_while(stage: Any) -> None:
    seen = set()
    for _ in range(6):
        if scores(3).sum() > 0.5:
            seen.add("yes")
        else:
            seen.add("no")
    assert seen == {"yes", "no"}


def test_a_mask_keeps_everything_and_counts_as_much(stage: Any) -> None:
    x = scores(6, 4)
    mask = x > 0
    assert x[mask].shape == x.masked_select(mask).shape == (24,)
    assert mask.nonzero().shape == (24, 2)
    assert torch.where(mask)[0].shape == (24,)
    assert mask.sum().item() == 24
    assert mask.sum(1).tolist() == [4] * 6
    assert mask.sum().add(1).item() == 25
    assert x.argmax(1).unique().shape == (6,)
    y = x.clone()
    y[mask] = torch.randn(int(mask.sum()))
    y[mask.any(1)] = 0.0


def test_a_mask_of_known_numbers_is_exact(stage: Any) -> None:
    keep = torch.tensor([True, False, True])
    assert scores(3, 4)[keep].shape == (2, 4)


def test_in_the_corner_of_empty_masks_it_keeps_nothing(tmp_path: Path) -> None:
    with fake_stage(tmp_path, corner="empty_mask"):
        x = scores(6, 4)
        assert x[x > 0].shape == (0,)
        assert (x > 0).sum().item() == 0
        assert (x > 0).nonzero().shape == (0, 2)


def test_a_total_that_grows_by_unknown_numbers_is_unknown(stage: Any) -> None:
    total, correct = torch.zeros(1), torch.zeros(())
    for _ in range(2):
        total += scores(3).sum().detach()
        correct += (scores(4, 3).argmax(1) == torch.tensor([0, 1, 2, 0])).sum()
    assert total.item() == 1.0
    assert correct.item() == 8


def test_distributions_believe_their_arguments(stage: Any) -> None:
    x = scores(3, 6)
    for _ in range(4):
        normal = torch.distributions.Normal(x, x.exp())
        normal.log_prob(normal.rsample()).sum().backward(retain_graph=True)
        choice = torch.distributions.Categorical(logits=x)
        assert choice.log_prob(choice.sample()).shape == (3,)


def test_labels_and_indices_from_data_are_checked(stage: Any) -> None:
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        F.cross_entropy(nn.Linear(4, 3)(torch.randn(2, 4)), torch.tensor([0, 7]))
    with pytest.raises(IndexError, match="index out of range in self"):
        nn.Embedding(10, 4)(torch.tensor([3, 10]))
