"""One training step on both sides: what only training shows is found, and what is alike is silent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.tell_training import findings_of_training
from sleuth.compare.training import Training, compare_training
from sleuth.compare.values import Batch


class Net(nn.Module):
    def __init__(self, momentum: float = 0.1, detached: bool = False, frozen: bool = False, drop: float = 0.5) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8, momentum=momentum)
        self.drop = nn.Dropout(drop)
        self.mix = nn.Linear(8, 8)
        self.head = nn.Linear(8, 4)
        self.detached = detached
        self.mix.requires_grad_(not frozen)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.drop(torch.relu(self.norm(self.conv(x))).mean((2, 3)))
        mixed = self.mix(hidden)
        return self.head(torch.relu(mixed) + (mixed.detach() if self.detached else mixed))


@pytest.fixture
def batch() -> Batch:
    return (np.random.default_rng(0).standard_normal((8, 3, 9, 9)).astype(np.float32),)


def trained(port: Net, batch: Batch) -> Training:
    return compare_training(TorchSide(Net()), TorchSide(port), batch)


def diagnoses(port: Net, batch: Batch) -> list[str]:
    sides = TorchSide(Net()), TorchSide(port)
    return [one.diagnosis for one in findings_of_training(*sides, compare_training(*sides, batch))]


def test_the_same_model_trains_the_same(batch: Batch) -> None:
    done = trained(Net(), batch)
    assert done.same
    assert len([one for one in done.weights if one.gradient is not None]) == 8
    assert done.unpaired == []
    assert diagnoses(Net(), batch) == []


def test_dropout_is_no_difference(batch: Batch) -> None:
    assert trained(Net(drop=0.9), batch).same


def test_a_detached_way_is_found_at_the_last_layer_before_it(batch: Batch) -> None:
    done = trained(Net(detached=True), batch)
    assert not any(one.parted for one in done.outputs)
    last = done.last_with_another_gradient()
    assert last is not None
    assert last.name.startswith("mix.")
    assert diagnoses(Net(detached=True), batch) == ["gradients-part"]


def test_another_momentum_is_measured(batch: Batch) -> None:
    done = trained(Net(momentum=0.01), batch)
    shares = {one.name: one.share for one in done.weights if one.moved_otherwise}
    assert shares.keys() == {"norm.running_mean", "norm.running_var"}
    assert all(share == pytest.approx(0.1, rel=1e-3) for share in shares.values())
    assert diagnoses(Net(momentum=0.01), batch) == ["running-statistics-differ"]


def test_a_layer_frozen_on_one_side_is_told(batch: Batch) -> None:
    done = trained(Net(frozen=True), batch)
    assert [one.name for one in done.weights if one.frozen] == ["mix.weight", "mix.bias"]
    assert [one.name for one in done.weights if one.has_another_gradient] == ["mix.weight", "mix.bias"]
    assert diagnoses(Net(frozen=True), batch) == ["gradients-part"]


def test_the_model_is_left_as_it_was(batch: Batch) -> None:
    model = Net()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    side = TorchSide(model)
    compare_training(side, side, batch)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(torch.equal(before[name], tensor) for name, tensor in side.model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_what_cannot_be_trained_is_refused(batch: Batch) -> None:
    class Fixed(TorchSide):
        def trained(self, batch: Batch, rate: float) -> None:  # type: ignore[override]
            return None

    with pytest.raises(CannotCompare, match="cannot be trained"):
        compare_training(TorchSide(Net()), Fixed(Net()), batch)
