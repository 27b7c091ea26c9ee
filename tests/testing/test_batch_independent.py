"""assert_batch_independent: no sample leaks into another, or the message says which, and where."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sleuth.testing import assert_batch_independent

X = torch.randn(6, 4, 5, generator=torch.Generator().manual_seed(3))


class Net(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.layer = nn.Linear(5, 5)
        self.norm = nn.BatchNorm1d(4)
        self.attention = nn.MultiheadAttention(5, 1, batch_first=how != "attention")
        self.rnn = nn.LSTM(5, 5, batch_first=how != "rnn")
        self.drop = nn.Dropout(0.5)
        self.how = how

    def forward(self, x: Tensor) -> Any:
        h = self.drop(self.layer(x))
        statistics = h.mean()
        if self.how == "softmax":
            return torch.softmax(h, dim=0)  # here
        if self.how == "view":
            return self.layer(
                h.view(4, 6, 5).softmax(0)  # here
            ).reshape(6, 4, 5)
        if self.how == "norm":
            return self.norm(h)  # here
        if self.how == "max":
            return h / h.abs().max()  # here
        if self.how == "sorted":
            return h[torch.argsort(h[:, 0, 0])]  # here
        if self.how == "whole":
            return {"mean": statistics, "scores": h}
        if self.how == "attention":
            return self.attention(h, h, h)[0]  # here
        if self.how == "rnn":
            return self.rnn(h)[0]  # here
        return self.rnn(self.attention(self.norm(h), h, h)[0])[0]


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_samples_of_healthy_models_stay_apart(healthy: Any, untouched: Any) -> None:
    model, inputs, _ = healthy
    untouched(model)
    assert_batch_independent(model, inputs)


def test_attention_norm_and_recurrence_over_the_right_dimension_are_fine(untouched: Any) -> None:
    model, whole = Net(), Net("whole")
    untouched(model)
    assert_batch_independent(model, X)
    assert_batch_independent(whole, {"x": X}, train=True)


def test_the_batch_may_be_another_dimension(failure: Any) -> None:
    model = nn.LSTM(5, 3)
    assert_batch_independent(model, X, dim=1)
    assert "leaks" in failure(assert_batch_independent, model, X)


@pytest.mark.parametrize(
    ("how", "name", "change"),
    [
        ("softmax", "softmax", "over dimension 0 goes over the samples: take that of the classes, dim=-1"),
        ("view", "view", "use transpose() or permute() to swap dimensions"),
        ("attention", "multi_head_attention_forward", "unless batch_first=True"),
        ("rnn", "lstm", "LSTM reads dimension 0 as the sequence unless batch_first=True"),
        ("max", "max", "let max work within a sample"),
    ],
)
def test_the_first_call_that_mixes_is_named(
    how: str, name: str, change: str, failure: Any, line_of: Any, untouched: Any
) -> None:
    model = Net(how)
    untouched(model)
    message = failure(assert_batch_independent, model, X)
    assert re.match(r"the samples of a batch are not independent: sample \d leaks into sample", message)
    assert f"the first call that mixes the samples is {name} " in message
    assert re.search(line_of(__file__), message)
    assert change in " ".join(message.split())


def test_what_has_no_gradient_is_found_by_changing_a_sample(failure: Any) -> None:
    message = failure(assert_batch_independent, Net("sorted"), X)
    assert "is replaced, output of sample" in message


def test_what_is_lost_beside_large_outputs_is_found_by_its_gradient(failure: Any) -> None:
    class Shifted(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + 0.1 * x.mean(0, keepdim=True) + 1e6

    message = failure(assert_batch_independent, Shifted(), X)
    assert re.search(r"the gradient of output of sample 0 is 0\.\d+ with respect to sample 1, 1\.\d+ with", message)
    assert "the first call that mixes the samples is mean" in message


def test_batch_norm_mixes_in_training_mode_only_and_this_is_explained(failure: Any, line_of: Any) -> None:
    model = Net("norm").train()
    assert_batch_independent(model, X)
    message = failure(assert_batch_independent, model, X, train=True)
    assert "batch_norm in the layer norm (BatchNorm1d)" in message
    assert "BatchNorm in training mode takes mean and variance over the whole batch" in message
    assert re.search(line_of(__file__), message)


def test_tokens_are_exchanged_for_other_tokens(failure: Any) -> None:
    class Bag(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(10, 4)

        def forward(self, tokens: Tensor) -> Tensor:
            vectors = self.embed(tokens)
            return vectors - vectors.mean(0)

    tokens = torch.arange(6).reshape(3, 2)
    assert "the first call that mixes the samples is mean" in failure(assert_batch_independent, Bag(), tokens)


def test_misuse_is_told_in_a_line() -> None:
    with pytest.raises(ValueError, match="at least 2 are needed"):
        assert_batch_independent(Net(), X[:1])
    with pytest.raises(ValueError, match="no dimension 3 to count samples in"):
        assert_batch_independent(Net(), X, dim=3)
    with pytest.raises(
        ValueError, match=r"no output of the model has 6 samples in dimension 0: it gives output \(2,\)"
    ):
        assert_batch_independent(_Sums(), X)
    with pytest.raises(TypeError, match="the inputs hold no tensor"):
        assert_batch_independent(Net(), [1, 2])


class _Sums(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([x.sum(), x.mean()])
