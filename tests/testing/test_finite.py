"""assert_finite: no NaN and no Inf, or the message says for which inputs, and on which line it was born."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.testing import assert_finite

X = torch.randn(6, 5, generator=torch.Generator().manual_seed(3))
Y = torch.tensor([0, 1, 2, 0, 1, 2])


class Net(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.layer = nn.Linear(5, 3, bias=how != "norm")
        self.how = how

    def forward(self, x: Tensor) -> Tensor:
        h = self.layer(x)
        if self.how == "log":
            return torch.log(h)  # here
        if self.how == "norm":
            return h / h.norm(dim=1, keepdim=True)  # here
        if self.how == "exp":
            return torch.exp(h) / torch.exp(h).sum(1, keepdim=True)  # here
        if self.how == "std":
            return h / h.std(0)  # here
        if self.how == "sqrt":
            return torch.sqrt(h - h)  # here
        if self.how == "masked":
            return h.masked_fill(torch.tensor([False, False, True]), -torch.inf)
        if self.how == "refuses" and len(x) == 1:
            raise ValueError("I want two samples")
        return h


class Padded(nn.Module):
    """Attention over tokens, where 0 is padding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 4)

    def forward(self, tokens: Tensor) -> Tensor:
        h = self.embed(tokens)
        scores = (h @ h.transpose(1, 2)).masked_fill((tokens == 0)[:, None], -torch.inf)
        return torch.softmax(scores, dim=-1) @ h  # here


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_healthy_models_are_finite(healthy: Any, untouched: Any) -> None:
    model, inputs, labels = healthy
    untouched(model)
    assert_finite(model, inputs)
    assert_finite(model.eval().train(), inputs, nn.CrossEntropyLoss(), targets=labels)


@pytest.mark.parametrize(
    ("how", "inputs", "what"),
    [
        ("log", "the inputs given", "NaN in"),
        ("norm", "inputs that are all 0", "NaN in 18 of 18 values"),
        ("exp", "inputs 1000 times as large", "NaN in"),
        ("std", "inputs that are all 0", "in 18 of 18 values"),
    ],
)
def test_the_line_is_named_where_it_is_born(
    how: str, inputs: str, what: str, failure: Any, line_of: Any, untouched: Any
) -> None:
    model = Net(how)
    untouched(model)
    for _ in range(2):  # the loop around the oracle is not the one to be run again
        message = failure(assert_finite, model, X)
        first = message.split("\n")[0]
        assert first.startswith("output holds ")
        assert first.endswith(f"for {inputs}")
        assert what in first
        assert re.search(line_of(__file__), message)
        assert "error[" in message


def test_a_batch_of_one_sample(failure: Any) -> None:
    message = failure(assert_finite, Net("std"), X, edge_cases=["one sample"])
    assert message.startswith("output holds NaN in 3 of 3 values for a batch of one sample")
    assert "std-of-one-element" in message
    assert "edge_cases without 'one sample'" in message


def test_rows_that_are_all_the_same(failure: Any) -> None:
    assert "a batch of one sample repeated" in failure(assert_finite, Net("std"), X, edge_cases="repeated rows")


def test_nothing_but_padding(failure: Any, line_of: Any) -> None:
    tokens = torch.randint(1, 9, (4, 3))
    message = failure(assert_finite, Padded(), tokens)
    assert message.startswith("output holds NaN in 48 of 48 values for a batch of nothing but padding")
    assert "softmax-of-fully-masked-row" in message
    assert re.search(line_of(__file__), message)
    assert_finite(Padded(), tokens, edge_cases=False)


def test_gradients_are_looked_at_where_outputs_are_fine(failure: Any, line_of: Any) -> None:
    message = failure(assert_finite, Net("sqrt"), X, edge_cases=False)
    assert message.startswith("the gradient of layer.weight, layer.bias is not finite for the inputs given")
    assert "sqrt-gradient-at-zero" in message
    assert re.search(line_of(__file__), message)


def test_the_loss_is_looked_at(failure: Any) -> None:
    message = failure(assert_finite, Net(), X, lambda out: torch.log(out.relu() * 0).mean(), edge_cases=False)
    assert message.startswith("the loss is -inf for the inputs given")
    assert "log-of-zero" in message


def test_a_mask_of_minus_infinity_is_no_fault_where_the_loss_is_finite() -> None:
    assert_finite(Net("masked"), X, functional.cross_entropy, targets=torch.zeros(6, dtype=torch.long))


def test_an_edge_case_that_the_model_refuses_is_its_right_but_not_the_inputs_given() -> None:
    assert_finite(Net("refuses"), X)
    with pytest.raises(ValueError, match="I want two samples"):
        assert_finite(Net("refuses"), X[:1])


def test_a_model_without_parameters(failure: Any) -> None:
    class Ratio(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / x

    assert "division-by-zero" in failure(assert_finite, Ratio(), X)


def test_misuse_is_told_in_a_line() -> None:
    with pytest.raises(ValueError, match="no edge case 'huge'; choose from zeros, constant, large"):
        assert_finite(Net(), X, edge_cases=["huge"])
    with pytest.raises(ValueError, match="targets without a loss"):
        assert_finite(Net(), X, targets=Y)
    with pytest.raises(TypeError, match="must be callable"):
        assert_finite(Net(), X, 3)


def test_nothing_of_ours_stays_on_torchs_stack_of_modes(failure: Any) -> None:
    from torch.overrides import _get_current_function_mode_stack

    failure(assert_finite, nn.Sequential(nn.Linear(6, 3), Logarithm()), torch.randn(4, 6))
    assert _get_current_function_mode_stack() == []


class Logarithm(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.log()
