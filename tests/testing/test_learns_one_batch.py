"""assert_learns_one_batch: healthy models learn a batch by heart; where one does not, the message says why."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.testing import assert_learns_one_batch

X = torch.randn(12, 6, generator=torch.Generator().manual_seed(3))
Y = torch.tensor([0, 1, 2] * 4)


class Net(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.out = nn.Linear(16, 3)
        self.drop = nn.Dropout(0.97 if how == "dropout" else 0.5)
        self.how = how
        if how == "dead":
            nn.init.constant_(self.hidden.bias, -100.0)

    def forward(self, x: Tensor) -> Tensor:
        h = self.drop(torch.relu(self.hidden(x)))
        if self.how == "cut":
            return self.out(h).detach()  # here
        scores = self.out(h)
        if self.how == "softmax":
            return torch.softmax(scores, dim=1)  # here
        if self.how == "log":
            return torch.log(scores.relu() * 0)  # here
        if self.how == "sqrt":
            return scores + torch.sqrt(scores * 0)  # here
        return scores


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_healthy_models_learn_a_batch(healthy: Any, untouched: Any) -> None:
    model, inputs, labels = healthy
    untouched(model)
    assert_learns_one_batch(model, (inputs, labels), nn.CrossEntropyLoss())


def test_the_model_may_be_in_evaluation_mode_and_hold_gradients(untouched: Any) -> None:
    model = Net().eval()
    functional.cross_entropy(model(X), Y).backward()
    untouched(model)
    assert_learns_one_batch(model, (X, Y), functional.cross_entropy)


def test_inputs_come_by_name_or_one_by_one() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(6, 3)

        def forward(self, x: Tensor, scale: Tensor) -> dict[str, Tensor]:
            x.mul_(scale)
            return {"logits": self.layer(x)}

    def loss(outputs: dict[str, Tensor], targets: Tensor) -> Tensor:
        return functional.cross_entropy(outputs["logits"], targets)

    before = X.clone()
    assert_learns_one_batch(Two(), ({"x": X, "scale": torch.tensor(2.0)}, Y), loss, to=0.5)
    assert_learns_one_batch(Two(), ((X, torch.tensor(2.0)), Y), loss, to=0.5)
    assert torch.equal(X, before)


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW, torch.optim.LBFGS])
def test_an_optimizer_of_the_model_trains_the_copy(kind: Any, untouched: Any) -> None:
    model = Net()
    optimizer = kind(model.parameters(), lr=0.5 if kind is not torch.optim.AdamW else 0.01)
    untouched(model)
    assert_learns_one_batch(model, (X, Y), functional.cross_entropy, optimizer)
    assert not optimizer.state


def test_softmax_before_cross_entropy_is_named_with_its_line(failure: Any, line_of: Any, untouched: Any) -> None:
    model = Net("softmax")
    untouched(model)
    message = failure(assert_learns_one_batch, model, (X, Y), functional.cross_entropy)
    assert message.startswith("the model does not learn one batch: in 200 steps the loss went from 1.")
    assert "(asked for: 10%)" in message.split("\n")[0]
    assert "error[softmax-before-cross-entropy]" in message
    assert re.search(line_of(__file__), message)
    assert re.search(r"loss by step: 0: 1\.\d+, 1: .*200: 0\.\d+", message)
    assert "give cross_entropy the raw scores" in message


def test_a_cut_graph_is_named_with_its_line(failure: Any, line_of: Any) -> None:
    message = failure(assert_learns_one_batch, Net("cut"), (X, Y), functional.cross_entropy)
    assert message.startswith("the model does not learn: backward gives it no gradients")
    assert "graph-cut" in message
    assert re.search(line_of(__file__), message)


def test_dead_units_are_named(failure: Any) -> None:
    message = failure(assert_learns_one_batch, Net("dead"), (X, Y), functional.cross_entropy, steps=20)
    assert "dead-units" in message
    assert "100% of the units" in message


def test_dropout_of_nearly_everything_is_named(failure: Any) -> None:
    message = failure(assert_learns_one_batch, Net("dropout"), (X, Y), functional.cross_entropy, steps=100)
    assert "dropout-too-high" in message


def test_a_loss_that_is_infinite_is_traced_to_its_line(failure: Any, line_of: Any, untouched: Any) -> None:
    model = Net("log")
    untouched(model)
    for _ in range(2):  # the loop around the oracle is not the one to be run again
        message = failure(assert_learns_one_batch, model, (X, Y), lambda out, y: out.mean())
        assert message.startswith("the model does not learn one batch: after 0 steps the loss is -inf")
        assert "error[log-of-zero]" in message
        assert re.search(line_of(__file__), message)


def test_a_gradient_that_is_not_finite_is_traced_to_its_line(failure: Any, line_of: Any) -> None:
    message = failure(assert_learns_one_batch, Net("sqrt"), (X, Y), functional.cross_entropy)
    assert "the gradient of hidden.weight" in message.split("\n")[0]
    assert "sqrt-gradient-at-zero" in message
    assert re.search(line_of(__file__), message)


def test_a_learning_rate_that_is_too_high_is_named(failure: Any) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=300.0)
    message = failure(assert_learns_one_batch, model, (X, Y), functional.cross_entropy, optimizer)
    assert "gradient-explosion" in message
    assert "lower the learning rate" in message


def test_a_learning_rate_of_next_to_nothing_is_the_optimisers_fault(failure: Any) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    message = failure(assert_learns_one_batch, model, (X, Y), functional.cross_entropy, optimizer, steps=100)
    assert "the optimiser is the cause: with Adam at lr=0.03 in its place" in message


def test_an_optimizer_of_another_model_is_no_way_to_learn(failure: Any) -> None:
    optimizer = torch.optim.SGD(Net().parameters(), lr=0.1)
    message = failure(assert_learns_one_batch, Net(), (X, Y), functional.cross_entropy, optimizer, steps=20)
    assert "100% of its start" in message


def test_contradicting_targets_are_counted(failure: Any) -> None:
    message = failure(
        assert_learns_one_batch, Net(), (X[:1].repeat(2, 1), torch.tensor([0, 1])), functional.cross_entropy, steps=20
    )
    assert "1 pair of samples have the same input and different targets" in message


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((Net, (X, Y), functional.cross_entropy), TypeError, "make one with its arguments first"),
        ((Net(), X, functional.cross_entropy), TypeError, r"must be a pair \(inputs, targets\), not Tensor"),
        ((Net(), (X, Y), nn.CrossEntropyLoss), TypeError, r"write CrossEntropyLoss\(\)"),
        ((Net(), (X, Y), functional.cross_entropy, "adam"), TypeError, "a torch optimiser or a function"),
        ((Net(), (X, Y), functional.cross_entropy, None, 0), ValueError, "steps must be 1 or more"),
        ((Net(), (X, Y), functional.cross_entropy, None, 10, 2.0), ValueError, "between 0 and 1"),
        ((Net(), (X, Y), lambda out, y: out), ValueError, r"has the shape \(12, 3\)"),
        ((Net(), (X, Y), lambda out, y: 1.0), TypeError, "gave float"),
        ((Net(), (X, Y), lambda out, y: -out.square().mean()), ValueError, "the loss starts at -0"),
        ((Net().requires_grad_(False), (X, Y), functional.cross_entropy), ValueError, "nothing to train"),
    ],
)
def test_misuse_is_told_in_a_line(arguments: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        assert_learns_one_batch(*arguments)
    assert "\n" not in str(caught.value)


def test_an_error_of_the_model_comes_through() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        assert_learns_one_batch(Net(), (torch.randn(4, 5), Y[:4]), functional.cross_entropy)
