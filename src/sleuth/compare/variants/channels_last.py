"""The module with the channels of its images innermost in memory."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Batch
from sleuth.compare.variants.of_torch import VariantSide, module_of

_IMAGE_AXES = 4


def made(side: Side, batch: Batch) -> Side:
    if not any(array.ndim == _IMAGE_AXES for array in batch):
        raise CannotCompare("none of the inputs has 4 axes: channels_last makes no difference")
    laid_out = ChannelsLastSide(side)
    laid_out.run(batch)
    return laid_out


class ChannelsLastSide(VariantSide):
    def __init__(self, side: Side) -> None:
        model: nn.Module = module_of(side, "channels_last").to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        super().__init__(side, "channels_last", model)

    def _cast(self, tensor: Tensor) -> Tensor:
        tensor = super()._cast(tensor)
        return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == _IMAGE_AXES else tensor
