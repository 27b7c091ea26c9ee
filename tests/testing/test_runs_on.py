"""assert_runs_on: the model runs on a device this machine need not have, or it is said what was left where."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

from sleuth.testing import assert_runs_on

X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
Y = torch.tensor([0, 1, 2, 0])


class Net(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.layer = nn.Linear(5, 3)
        self.how = how
        self.scale = torch.ones(3)  # here
        self.register_buffer("shift", torch.zeros(3))
        self.more = [nn.Linear(3, 3)]  # here
        self.bias = numpy.ones(3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.layer(x)
        if self.how == "attribute":
            return h * self.scale  # here
        if self.how == "list":
            return self.more[0](h)  # here
        if self.how == "made in forward":
            return h + torch.arange(3)  # here
        if self.how == "numpy":
            return h + torch.from_numpy(h.detach().numpy())  # here
        if self.how == "float64":
            return h + torch.tensor(self.bias).to(h.device)  # here
        if self.how == "half":
            return self.layer(x.half())  # here
        if self.how == "made there":
            return h + torch.arange(3, device=x.device) + torch.zeros_like(h) + h.new_ones(3)
        if self.how == "a number":
            return h * torch.tensor(2.0)
        if self.how == "asks":
            return h + (torch.ones(3).cuda() if x.is_cuda else torch.ones(3))
        return h + self.shift


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps"])
def test_healthy_models_run(device: str, healthy: Any, untouched: Any) -> None:
    model, inputs, labels = healthy
    untouched(model)
    assert_runs_on(model, inputs, device)
    assert_runs_on(model, inputs, device, nn.CrossEntropyLoss(), labels)


@pytest.mark.parametrize("how", ["", "made there", "a number", "asks"])
def test_what_is_on_the_device_may_be_used(how: str, untouched: Any) -> None:
    model = Net(how)
    untouched(model)
    assert_runs_on(model, X, "cuda")
    assert_runs_on(model, X, "cuda", nn.CrossEntropyLoss(), Y)


@pytest.mark.parametrize("how", ["attribute", "list", "made in forward", "numpy"])
@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps"])
def test_what_was_left_behind_is_named_with_its_line(
    how: str, device: str, failure: Any, line_of: Any, untouched: Any
) -> None:
    model = Net(how)
    untouched(model)
    told = failure(assert_runs_on, model, X, device)
    assert told.startswith(f"the model does not run on {device}")
    assert re.search(line_of(__file__), told), told


def test_a_plain_attribute_and_a_plain_list_are_called_so(failure: Any) -> None:
    assert "tensor-attribute-not-buffer" in failure(assert_runs_on, Net("attribute"), X)
    assert "modules-in-plain-list" in failure(assert_runs_on, Net("list"), X)
    assert "numpy-of-cuda-tensor" in failure(assert_runs_on, Net("numpy"), X)


def test_a_type_that_the_layer_does_not_take_is_its_own_error() -> None:
    with pytest.raises(RuntimeError, match="dtype"):
        assert_runs_on(Net("half"), X, "cuda")


def test_float64_runs_on_cuda_and_not_on_mps(failure: Any) -> None:
    assert_runs_on(Net("float64"), X, "cuda")
    assert "float64" in failure(assert_runs_on, Net("float64"), X, "mps")


def test_a_loss_that_keeps_a_tensor_to_itself_is_found(failure: Any) -> None:
    weights = torch.ones(3)
    told = failure(assert_runs_on, Net(), X, "cuda", lambda out, y: (out * weights).sum(), Y)
    assert "cuda:0" in told
    assert "cpu" in told


def test_a_loss_with_weights_of_its_own_is_moved() -> None:
    assert_runs_on(Net(), X, "cuda", nn.CrossEntropyLoss(weight=torch.ones(3)), Y)


def test_inputs_by_name_and_in_structures() -> None:
    class Both(nn.Module):
        def forward(self, first: Tensor, second: dict[str, Tensor]) -> Tensor:
            return first + second["x"]

    assert_runs_on(Both(), {"first": X, "second": {"x": X}}, "cuda")
    assert_runs_on(Both(), (X, {"x": X}), "cuda")


def test_an_error_of_the_model_s_own_is_raised_as_it_is() -> None:
    class Refuses(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        assert_runs_on(Refuses(), X)


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (TypeError, (nn.Linear, X)),
        (ValueError, (Net(), X, "cpu")),
        (ValueError, (Net(), X, "cuda", None, Y)),
        (TypeError, (Net(), X, "cuda", 3, Y)),
    ],
)
def test_what_makes_no_sense_is_refused(error: type[Exception], arguments: tuple[Any, ...]) -> None:
    with pytest.raises(error):
        assert_runs_on(*arguments)
