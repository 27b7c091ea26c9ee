"""The names the user gave things."""

from __future__ import annotations

import torch
from torch import nn

from sleuth.live.naming import module_entry


def test_a_lazy_layer_elsewhere_that_has_no_memory_yet_is_no_obstacle() -> None:
    waiting, layer = nn.LazyLinear(3), nn.Linear(2, 3)
    found = module_entry(layer.weight.view(-1))
    assert found is not None
    assert found.name == "weight"
    assert module_entry(torch.zeros(3)) is None
    assert waiting.has_uninitialized_params()
