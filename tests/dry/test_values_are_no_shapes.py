"""An error about the numbers in a tensor, or about a third tensor, is never told as one of two equal shapes."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import rehearsed

HEAD = """
import torch
from torch import nn
x, y = torch.randn(12, 4, device="{device}"), torch.{labels}
model = nn.Sequential(nn.Linear(4, 1){last}).to("{device}")
nn.functional.binary_cross_entropy(model(x), y.to("{device}")){end}
"""
LABELS = "tensor([[0.0], [1.0], [2.0], [-1.0]]).repeat(3, 1)"


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_labels_outside_of_0_to_1_are_told_with_their_numbers(tmp_path: Path, device: str) -> None:
    source = HEAD.format(device=device, labels=LABELS, last=", nn.Sigmoid()", end="")
    (finding,) = rehearsed(tmp_path, source).report.findings
    assert finding.diagnosis == "label-out-of-range"
    assert finding.title == "binary cross-entropy wants labels from 0 to 1, these go from -1 to 2"


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_scores_for_probabilities_are_told_with_their_numbers(tmp_path: Path, device: str) -> None:
    source = HEAD.format(device=device, labels="ones(12, 1)", last="", end="")
    (finding,) = rehearsed(tmp_path, source).report.findings
    assert finding.diagnosis == "logits-into-bce-loss"
    assert "layer 0 (Linear) gives" in finding.title


def test_a_nan_is_no_missing_sigmoid(tmp_path: Path) -> None:
    source = HEAD.format(device="cuda", labels="ones(12, 1)", last=", nn.Sigmoid()", end="").replace(
        "torch.randn(12, 4,", "torch.full((12, 4), torch.nan,"
    )
    (finding,) = rehearsed(tmp_path, source).report.findings
    assert finding.diagnosis == "crash-in-rehearsal"
    told = {item.name: str(item.value) for item in finding.evidence}
    assert "all elements of input should be between 0 and 1" in told["on the CPU"]


def test_weights_that_do_not_fit_are_not_told_as_prediction_and_target(tmp_path: Path) -> None:
    source = """
        import torch
        from torch.nn import functional as F
        scores, labels = torch.randn(8, 4), torch.ones(8, 4)
        F.binary_cross_entropy_with_logits(scores, labels, pos_weight=torch.ones(3))
        """
    (finding,) = rehearsed(tmp_path, source).report.findings
    assert finding.diagnosis == "shape-mismatch"
    assert "(8, 4) and (3,)" in finding.title
