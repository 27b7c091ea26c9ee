"""Tensors of which this process holds only a part (DTensor, FSDP). To read one whole would be a collective call, which
hangs unless every rank makes it: Sleuth only ever reads the part that is here."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from torch import Tensor


def local(tensor: Tensor) -> Tensor:
    """What this process holds of the tensor: all of it, but for a DTensor."""
    part: Tensor | None = getattr(tensor, "_local_tensor", None)
    return tensor if part is None else part


def local_all(tensors: list[Tensor]) -> list[Tensor]:
    """The same for many. Nothing is asked of them where the program has no DTensors."""
    return tensors if "torch.distributed.tensor" not in sys.modules else [local(tensor) for tensor in tensors]


def is_part(tensor: Any) -> bool:
    """Does this process hold less than the whole tensor? FSDP's first generation marks its parameters so."""
    return hasattr(tensor, "_local_tensor") or getattr(tensor, "_fsdp_flattened", False)


def any_part(tensors: Iterable[Any]) -> bool:
    return any(is_part(tensor) for tensor in tensors)
