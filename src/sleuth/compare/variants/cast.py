"""The module in another type of floating point: bfloat16, float16, float64."""

from __future__ import annotations

import torch
from torch import Tensor

from sleuth.compare.side import Side
from sleuth.compare.values import Batch
from sleuth.compare.variants.of_torch import VariantSide, module_of


def made(side: Side, batch: Batch, precision: str) -> Side:
    cast = CastSide(side, precision)
    cast.run(batch)
    return cast


class CastSide(VariantSide):
    """All weights and inputs are cast; what the module casts back itself stays as it says."""

    def __init__(self, side: Side, precision: str) -> None:
        self._dtype: torch.dtype = getattr(torch, precision)
        super().__init__(side, precision, module_of(side, precision).to(self._dtype))
        self.precision = precision

    def _cast(self, tensor: Tensor) -> Tensor:
        return tensor.to(self._dtype) if tensor.is_floating_point() else tensor
