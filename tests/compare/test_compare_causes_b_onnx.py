"""Faults put into an exported ONNX file, as converters make them, are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.compare.comparison import compare_on
from sleuth.compare.sides.torch_ import TorchSide

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


class Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru, self.head = nn.GRU(6, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(self.gru(x)[0])
        return found


class Image(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(256, 3)

    def forward(self, x: Tensor) -> Tensor:
        small = functional.avg_pool2d(self.conv(x), 3, 2, padding=1)
        found: Tensor = self.head(functional.interpolate(small, scale_factor=2, mode="bilinear").flatten(1))
        return found


def with_attribute(op: str, name: str, value: object) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        (node,) = [node for node in model.graph.node if node.op_type == op]
        for attribute in [one for one in node.attribute if one.name == name]:
            node.attribute.remove(attribute)
        node.attribute.append(onnx.helper.make_attribute(name, value))

    return change


CASES = {
    "reset before the product": (Sequence, with_attribute("GRU", "linear_before_reset", 0), "reset-after-differs"),
    "a hard sigmoid": (
        Sequence,
        with_attribute("GRU", "activations", ["HardSigmoid", "Tanh"]),
        "recurrent-activation-differs",
    ),
    "corners aligned": (
        Image,
        with_attribute("Resize", "coordinate_transformation_mode", "align_corners"),
        "resize-corners-differ",
    ),
    "padding not counted": (Image, with_attribute("AveragePool", "count_include_pad", 0), "pooling-edges-differ"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_the_fault_is_named_and_without_it_nothing(
    case: str, tmp_path: Path, seeded: Callable[[Callable[[], nn.Module]], nn.Module]
) -> None:
    from sleuth.compare.sides.onnx_ import OnnxSide

    build, change, diagnosis = CASES[case]
    model = seeded(build)
    generator = torch.Generator().manual_seed(1)
    shape = (3, 5, 6) if build is Sequence else (2, 3, 8, 8)
    inputs = torch.randn(shape, generator=generator)
    whole, broken = tmp_path / "whole.onnx", tmp_path / "broken.onnx"
    torch.onnx.export(model, (inputs,), str(whole), dynamo=True, verbose=False)
    exported = onnx.load(str(whole))
    change(exported)
    onnx.save(exported, str(broken))
    reference = TorchSide(model)
    assert compare_on(reference, OnnxSide(whole), (inputs.numpy(),)).troubles == []
    (trouble,) = compare_on(reference, OnnxSide(broken), (inputs.numpy(),)).troubles
    assert trouble.explanation is not None
    assert trouble.explanation.diagnosis == diagnosis
    assert trouble.explanation.rivals == ()
