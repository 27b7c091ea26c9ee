"""assert_all_parameters_train: every weight gets a gradient and moves, or the message says why not."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.testing import assert_all_parameters_train

X = torch.randn(8, 6, generator=torch.Generator().manual_seed(3))
Y = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])


class Net(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.spare = nn.Linear(6, 16)  # made
        self.out = nn.Sequential(
            nn.Linear(16, 8),
            nn.Linear(8, 3),
        )
        self.how = how
        if how == "dead":
            nn.init.constant_(self.hidden.bias, -100.0)
        if how == "list":
            self.more = [nn.Linear(16, 16)]
        if how == "zero":
            nn.init.zeros_(self.out[1].weight)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.hidden(x))  # here
        if self.how == "cut":
            h = h.detach()  # here
        if self.how == "round":
            h = torch.round(h)  # here
        if self.how == "no_grad":
            with torch.no_grad():
                h = torch.relu(self.hidden(x))
        if self.how == "list":
            h = self.more[0](h)
        if self.how == "one unit":
            return self.out(h) + torch.softmax(self.spare(x)[:, :1], dim=1)  # here
        return self.out(h)

    def train(self, mode: bool = True) -> Net:
        if mode and getattr(self, "how", "") == "frozen by train":
            self.hidden.requires_grad_(False)
        return super().train(mode)


def made_at(marker: str) -> int:
    lines = open(__file__, encoding="utf-8").read().split("\n")  # noqa: SIM115
    return next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(marker))


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_all_parameters_of_healthy_models_train(healthy: Any, untouched: Any) -> None:
    model, inputs, labels = healthy
    untouched(model)
    assert_all_parameters_train(model, (inputs, labels), nn.CrossEntropyLoss())


def test_plain_sgd_may_leave_a_bias_before_a_norm_where_it_is(healthy: Any) -> None:
    model, inputs, labels = healthy
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    assert_all_parameters_train(model, (inputs, labels), nn.CrossEntropyLoss(), optimizer)


@pytest.mark.parametrize("except_", ["spare", ["spare"], ["spare.*"], ["spare.weight", "spare.bias"]])
def test_what_is_unused_by_design_is_left_out(except_: Any, untouched: Any) -> None:
    model = Net().eval()
    untouched(model)
    assert_all_parameters_train(model, (X, Y), functional.cross_entropy, except_=except_)


def test_a_last_layer_that_starts_at_zero_trains_from_the_second_step_on() -> None:
    assert_all_parameters_train(Net("zero"), (X, Y), functional.cross_entropy, except_="spare")


def test_frozen_layers_are_not_asked_about() -> None:
    model = Net()
    model.hidden.requires_grad_(False)
    assert_all_parameters_train(model, (X, Y), functional.cross_entropy, except_="spare")


def test_a_layer_that_forward_never_uses_is_named_with_the_line_that_made_it(failure: Any, untouched: Any) -> None:
    model = Net()
    untouched(model)
    message = failure(assert_all_parameters_train, model, (X, Y), functional.cross_entropy)
    assert message.startswith("2 of 8 parameters do not train: spare.weight, spare.bias\n")
    assert "no gradient: forward() never uses it" in message
    assert f"test_all_parameters_train.py:{made_at('# made')}" in message
    assert "except_=" in message


def test_the_element_of_a_sequential_is_named_by_its_own_line(failure: Any) -> None:
    model = Net()
    model.out[1].weight.register_hook(torch.zeros_like)
    optimizer = torch.optim.SGD([p for n, p in model.named_parameters() if n != "out.1.weight"], lr=0.1)
    message = failure(
        assert_all_parameters_train, model, (X, Y), functional.cross_entropy, optimizer, except_=["spare"]
    )
    assert "out.1.weight" in message.split("\n")[0]
    assert f"test_all_parameters_train.py:{made_at('nn.Linear(8, 3),')}" in message


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("cut", "hidden.weight: no gradient: detach cuts its way to the loss"),
        ("round", "hidden.weight: its gradient is exactly 0: the slope of round is 0 everywhere"),
        ("dead", "hidden.weight: its gradient is exactly 0: relu gives 0 for every sample"),
        ("one unit", "spare.weight: its gradient is exactly 0: softmax gives 1 for every sample"),
    ],
)
def test_the_reason_is_told_with_its_line(how: str, says: str, failure: Any, line_of: Any) -> None:
    except_ = () if how == "one unit" else "spare"
    message = failure(assert_all_parameters_train, Net(how), (X, Y), functional.cross_entropy, except_=except_)
    assert says in " ".join(message.split())
    assert re.search(line_of(__file__), message)


def test_a_layer_used_without_gradients_is_told(failure: Any) -> None:
    message = failure(assert_all_parameters_train, Net("no_grad"), (X, Y), functional.cross_entropy, except_="spare")
    assert "hidden.weight: no gradient" in message


def test_a_loss_without_a_graph_trains_nothing(failure: Any) -> None:
    message = failure(
        assert_all_parameters_train,
        Net(),
        (X, Y),
        lambda out, y: functional.cross_entropy(out.data, y),
        except_="spare",
    )
    assert message.startswith("6 of 8 parameters do not train")


def test_a_head_replaced_after_the_optimizer_was_built(failure: Any) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.hidden = nn.Linear(6, 16)
    message = failure(assert_all_parameters_train, model, (X, Y), functional.cross_entropy, optimizer, except_="spare")
    assert message.startswith("2 of 8 parameters do not train: hidden.weight, hidden.bias")
    assert "it gets a gradient, but the optimizer does not hold it" in message


def test_layers_in_a_plain_list(failure: Any) -> None:
    message = failure(assert_all_parameters_train, Net("list"), (X, Y), functional.cross_entropy, except_="spare")
    assert "more[0].weight: the loss depends on it, but model.parameters() does not give it" in " ".join(
        message.split()
    )
    assert "nn.ModuleList" in message


def test_a_learning_rate_of_zero(failure: Any) -> None:
    model = Net()
    groups = [{"params": model.hidden.parameters(), "lr": 0.0}, {"params": model.out.parameters()}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    message = failure(assert_all_parameters_train, model, (X, Y), functional.cross_entropy, optimizer, except_="spare")
    assert "hidden.weight: its learning rate is 0" in message


def test_updates_lost_in_rounding(failure: Any) -> None:
    model = Net().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    message = failure(
        assert_all_parameters_train, model, (X.bfloat16(), Y), functional.cross_entropy, optimizer, except_="spare"
    )
    assert "lost in the rounding of bfloat16" in " ".join(message.split())


def test_layers_that_the_model_freezes_by_itself(failure: Any) -> None:
    message = failure(
        assert_all_parameters_train, Net("frozen by train").eval(), (X, Y), functional.cross_entropy, except_="spare"
    )
    assert "no parameter" not in message
    assert "hidden.weight: it was frozen while the model ran" in message


def test_a_model_that_is_frozen_altogether(failure: Any) -> None:
    message = failure(assert_all_parameters_train, Net().requires_grad_(False), (X, Y), functional.cross_entropy)
    assert message.startswith("no parameter trains: all 8 are frozen")


def test_a_name_that_does_not_exist_is_a_misuse() -> None:
    with pytest.raises(ValueError, match="did you mean 'spare'"):
        assert_all_parameters_train(Net(), (X, Y), functional.cross_entropy, except_=["spar"])
    with pytest.raises(TypeError, match="torch optimiser, not float"):
        assert_all_parameters_train(Net(), (X, Y), functional.cross_entropy, 0.1)
