"""A layer computed in half precision: its sums, its product and its bias are each rounded, in an order not known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

Told = Callable[..., list[tuple[str, str]]]
Linear = Callable[[Tensor, Tensor, Tensor], Tensor]


class Net(nn.Module):
    def __init__(self, linear: Linear = functional.linear, slope: float = 0.1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second, self.third = (nn.Linear(32, 32) for _ in range(3))
        self.linear, self.slope = linear, slope

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.leaky_relu(self.first(x), self.slope)
        return self.third(torch.tanh(self.linear(hidden, self.second.weight, self.second.bias)))


def summed_in(dtype: torch.dtype) -> Linear:
    """One product after the other, each sum rounded; then the bias."""

    def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        x, weight = x.to(dtype), weight.to(dtype)
        total = x[:, :1] * weight[:, 0]
        for place in range(1, x.shape[1]):
            total = total + x[:, place : place + 1] * weight[:, place]
        return (total + bias.to(dtype)).float()

    return linear


def product_in(dtype: torch.dtype) -> Linear:
    return lambda x, weight, bias: (x.to(dtype) @ weight.to(dtype).T).float() + bias


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("layer", "says"), [(summed_in, "its values are computed in"), (product_in, "its product is")])
def test_it_is_told_by_the_grid_that_its_values_lie_on(
    told: Told, dtype: torch.dtype, layer: Callable[[torch.dtype], Linear], says: str
) -> None:
    [(diagnosis, words)] = told(Net(), Net(layer(dtype)), torch.randn(16, 32))
    assert diagnosis == "precision-lowered"
    assert says in words
    assert words.endswith(f" {str(dtype).removeprefix('torch.')}")


def test_another_fault_whose_values_lie_on_no_grid_is_none_of_precision(told: Told) -> None:
    found = told(Net(), Net(lambda x, weight, bias: functional.linear(x, weight * 1.001, bias)), torch.randn(16, 32))
    assert "precision-lowered" not in {diagnosis for diagnosis, _ in found}


def test_a_slope_of_many_digits_is_told_as_it_is(told: Told) -> None:
    [(diagnosis, words)] = told(Net(), Net(slope=0.13566), torch.randn(16, 32))
    assert diagnosis == "activation-differs"
    assert "negative slope 0.13566, not 0.1" in words
