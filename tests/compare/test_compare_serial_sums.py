"""A verdict near the limit stands the way of summing that is least exact, and a fault is still one."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from sleuth.compare.inputs import Sample
from sleuth.compare.reference import Reference, as_array
from sleuth.compare.scores import EPS
from sleuth.compare.serial_sums import noise_of_serial_sums
from sleuth.compare.session import compare_sides
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Captured


def _summed_serially(weight: Any, value: Any) -> Any:
    total = np.zeros((len(value), len(weight)), np.float32)
    for place in range(value.shape[1]):
        total += value[:, place : place + 1] * weight[:, place]
    return total


class _Serial(TorchSide):
    """The same layer by a loop over its products, and off by a factor where that is wanted."""

    factor = 1.0

    def run(self, batch: Any) -> Any:
        weight = as_array(self.model.weight)
        return [_summed_serially(weight, batch[0]) * np.float32(self.factor)]

    def capture(self, batch: Any, wanted: Any = None) -> Captured:
        return Captured(self.run(batch))


def test_the_noise_of_serial_sums_grows_with_their_length() -> None:
    value = torch.randn(8, 1024)
    [noise] = noise_of_serial_sums(Reference.of(nn.Linear(1024, 16, bias=False), (value,)), (value.numpy(),))
    assert 3 * EPS < noise < 14 * EPS


def test_another_way_to_sum_is_no_difference_but_a_factor_is() -> None:
    torch.manual_seed(0)
    model = nn.Linear(2048, 12, bias=False).eval()
    samples = [Sample(f"random {seed}", (torch.randn(2, 2048).numpy(),)) for seed in range(6)]
    for factor, same in ((1.0, True), (1.0001, False)):
        side, target = TorchSide(model), _Serial(model)
        target.factor = factor
        assert any(one.worst > 6 for one in compare_sides(side, target, samples).tried) is not same
