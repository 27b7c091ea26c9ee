"""What draws random numbers gives no two runs the same."""

from __future__ import annotations

from sleuth.compare.onnx_import.building import Builder
from sleuth.compare.onnx_import.operations import Step, operation
from sleuth.compare.side import CannotCompare


@operation("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli")
def _random(b: Builder, s: Step) -> None:
    raise CannotCompare(
        f"the model uses the ONNX operation {s.op}, which draws random numbers, so no two runs are alike"
    )
