"""The module under autocast: matrix products in half precision, the rest as it is."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch

from sleuth.compare.side import Side
from sleuth.compare.values import Batch
from sleuth.compare.variants.of_torch import VariantSide, module_of


def made(side: Side, batch: Batch, precision: str) -> Side:
    cast = AutocastSide(side, precision)
    cast.run(batch)
    return cast


class AutocastSide(VariantSide):
    def __init__(self, side: Side, precision: str) -> None:
        name = f"autocast-{precision}"
        super().__init__(side, name, module_of(side, name))
        self.precision = name
        self._dtype: torch.dtype = getattr(torch, precision)

    def surroundings(self) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", self._dtype)
