"""The module on another device."""

from __future__ import annotations

import torch
from torch import Tensor

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Batch
from sleuth.compare.variants.of_torch import VariantSide, module_of


def made(side: Side, batch: Batch, device: str) -> Side:
    if device == "cuda" and not torch.cuda.is_available():
        raise CannotCompare("there is no CUDA device here for --as cuda")
    moved = DeviceSide(side, device)
    moved.run(batch)
    return moved


class DeviceSide(VariantSide):
    def __init__(self, side: Side, device: str) -> None:
        super().__init__(side, device, module_of(side, device).to(device))
        self.runtime = f"PyTorch {torch.__version__}, {device}"
        self._device = device
        if device == "cuda" and (torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32):
            self.precision = "tf32"
            self.notes = ("PyTorch lets this GPU round the inputs of products to TF32 (allow_tf32)",)

    def _cast(self, tensor: Tensor) -> Tensor:
        return super()._cast(tensor).to(self._device)
