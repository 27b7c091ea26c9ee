"""Stacked recurrent layers: each is compared by itself, and the whole computes what it did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.reference import Reference


class Stacked(nn.Module):
    def __init__(self, kind: Any, states: bool = False, **options: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.rnn, self._states = kind(3, 4, 3, **options), states

    def forward(self, value: Tensor) -> Any:
        outputs, states = self.rnn(value)
        return (outputs, states) if self._states else outputs


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "batch_first": True}, {"bias": False}])
def test_each_layer_has_a_value_of_its_own_and_the_result_is_the_same(kind: Any, options: dict[str, Any]) -> None:
    model = Stacked(kind, **options).eval()
    value = torch.randn(5, 2, 3)
    captured = Reference.of(model, (value,)).trace((value.numpy(),), torch.float32)
    op = {nn.LSTM: "lstm", nn.GRU: "gru", nn.RNN: "rnn_tanh"}[kind]
    assert [one.layer for one in captured.values if one.op == op] == ["rnn, layer 1", "rnn, layer 2", "rnn"]
    np.testing.assert_allclose(captured.outputs[0], model(value).detach(), rtol=1e-6, atol=1e-7)


def test_layers_whose_last_states_are_used_stay_together() -> None:
    model = Stacked(nn.GRU, states=True).eval()
    value = torch.randn(5, 2, 3)
    captured = Reference.of(model, (value,)).trace((value.numpy(),), torch.float32)
    assert sum(one.op == "gru" for one in captured.values) == 1
    np.testing.assert_allclose(captured.outputs[1], model(value)[1].detach(), rtol=1e-6, atol=1e-7)
