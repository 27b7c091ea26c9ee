"""Where nothing was compared, that is said; what can be understood is not refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from sleuth.compare.side import CannotCompare
from sleuth.compare.verdict import Wishes, compare_deployments, compare_two


@pytest.fixture
def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).eval()


def saved(folder: Path, array: np.ndarray) -> str:
    path = folder / "x.npz"
    np.savez(path, input=array)
    return str(path)


def test_inputs_in_numpys_own_float64_are_taken(model: nn.Module, tmp_path: Path) -> None:
    inputs = saved(tmp_path, np.random.default_rng(0).standard_normal((4, 5)))
    assert compare_two(model, model, Wishes(inputs=inputs)).same
    assert compare_two((model, (torch.randn(2, 5),)), model, Wishes(inputs=inputs)).same


def test_inputs_without_a_number_are_no_agreement(model: nn.Module, tmp_path: Path) -> None:
    inputs = saved(tmp_path, np.full((4, 5), np.nan, np.float32))
    with pytest.raises(CannotCompare, match="finite"):
        compare_two(model, model, Wishes(inputs=inputs))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_a_deployment_that_cannot_be_made_is_no_agreement(model: nn.Module) -> None:
    with pytest.raises(CannotCompare, match="CUDA"):
        compare_deployments(model, ["cuda"], Wishes(inputs=(torch.randn(2, 5),)))
