"""Where rounding alone may do much, two correct implementations are not called different; a fault still is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.comparison import compare_on
from sleuth.compare.inputs import Sample
from sleuth.compare.session import compare_sides
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Array

Seeded = Callable[[Callable[[], nn.Module]], nn.Module]


class Scan(nn.Module):
    """A normalisation behind a convolution; its mean may be a little off, as another order of adding up leaves it."""

    def __init__(self, off: float = 0.0, eps: float = 1e-5) -> None:
        super().__init__()
        self.conv, self.norm, self.off = nn.Conv2d(1, 4, 1), nn.InstanceNorm2d(4, affine=True, eps=eps), off

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        if self.off:
            centred = y - y.mean((2, 3), keepdim=True) * (1 + self.off)
            spread = y.var((2, 3), correction=0, keepdim=True)
            return centred * torch.rsqrt(spread + self.norm.eps) * self.norm.weight.view(
                1, -1, 1, 1
            ) + self.norm.bias.view(1, -1, 1, 1)
        found: Tensor = self.norm(y)
        return found


class Chosen(nn.Module):
    """The three highest of scores that tie, and what stands at their places."""

    def __init__(self, last: bool = False, factor: float = 1.0) -> None:
        super().__init__()
        self.score, self.last, self.factor = nn.Linear(6, 1), last, factor

    def forward(self, x: Tensor) -> Tensor:
        score = self.factor * self.score(x).squeeze(-1)
        best = torch.sort(score.flip(1) if self.last else score, dim=1, descending=True, stable=True).indices
        best = x.shape[1] - 1 - best if self.last else best
        return score + best.to(score.dtype)


def zeros(*shape: int) -> tuple[Array, ...]:
    return (np.zeros(shape, np.float32),)


def drawn(*shape: int) -> tuple[Array, ...]:
    return (np.random.default_rng(0).standard_normal(shape).astype(np.float32),)


def test_the_norm_of_values_that_are_all_alike_is_no_difference(seeded: Seeded) -> None:
    sides = TorchSide(seeded(Scan)), TorchSide(seeded(lambda: Scan(off=1e-6)))
    assert compare_on(*sides, zeros(2, 1, 16, 16)).same


def test_a_choice_between_scores_that_tie_is_no_difference(seeded: Seeded) -> None:
    sides = TorchSide(seeded(Chosen)), TorchSide(seeded(lambda: Chosen(last=True)))
    assert compare_on(*sides, zeros(2, 12, 6)).same


@pytest.mark.parametrize("faulty", [lambda: Scan(off=1e-4), lambda: Scan(eps=1e-3)])
def test_a_fault_is_seen_on_the_other_inputs(seeded: Seeded, faulty: Callable[[], nn.Module]) -> None:
    samples = [Sample("zeros", zeros(2, 1, 16, 16)), Sample("random", drawn(2, 1, 16, 16))]
    session = compare_sides(TorchSide(seeded(Scan)), TorchSide(seeded(faulty)), samples)
    assert not session.same


def test_an_input_on_which_rounding_does_much_is_not_called_the_worst(seeded: Seeded) -> None:
    samples = [Sample("zeros", zeros(2, 12, 6)), Sample("random", drawn(2, 12, 6))]
    port = seeded(lambda: Chosen(last=True, factor=1.001))
    session = compare_sides(TorchSide(seeded(Chosen)), TorchSide(port), samples)
    assert not session.same
    assert session.worst.sample.label == "random"
