"""What a tensor holds, told in a few numbers: its range and whether it holds NaN or infinities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from sleuth.live.ranks.shards import local


@dataclass(frozen=True, slots=True)
class Numbers:
    """The range of a tensor's finite values, and how many of its values are not finite."""

    low: float
    high: float
    count: int
    nan: int = 0
    positive_infinity: int = 0
    negative_infinity: int = 0

    @property
    def infinite(self) -> int:
        return self.positive_infinity + self.negative_infinity

    @property
    def bad(self) -> int:
        return self.nan + self.infinite

    @property
    def finite(self) -> bool:
        return not self.bad

    @property
    def magnitude(self) -> float:
        """The largest absolute finite value."""
        return max(abs(self.low), abs(self.high)) if math.isfinite(self.low) else 0.0


NOTHING = Numbers(math.nan, math.nan, 0)


def readable(tensor: Tensor) -> bool:
    """Can we look at the values of this tensor at all?"""
    return (
        (tensor.is_floating_point() or tensor.is_complex())
        and tensor.layout == torch.strided
        and tensor.device.type != "meta"
        and not _is_freed(tensor)
    )


def _is_freed(tensor: Tensor) -> bool:
    """A shape whose memory was given back, as FSDP does with gathered weights as soon as a layer is done with them."""
    try:
        return tensor.numel() > 0 and tensor.untyped_storage().nbytes() == 0
    except (NotImplementedError, RuntimeError):
        return False


def look(tensor: Tensor) -> Numbers:
    """Measure a tensor. Integers and tensors that cannot be read are taken as finite."""
    tensor = local(tensor)
    if not readable(tensor) or tensor.numel() == 0:
        return NOTHING
    values = _as_measurable(tensor)
    low, high = (bound.item() for bound in torch.aminmax(values))
    if math.isfinite(low) and math.isfinite(high):
        return Numbers(low, high, tensor.numel())
    finite = values[torch.isfinite(values)]
    low, high = (bound.item() for bound in torch.aminmax(finite)) if finite.numel() else (math.nan, math.nan)
    return Numbers(
        low,
        high,
        tensor.numel(),
        nan=int(torch.isnan(values).sum()),
        positive_infinity=int(torch.isposinf(values).sum()),
        negative_infinity=int(torch.isneginf(values).sum()),
    )


def _as_measurable(tensor: Tensor) -> Tensor:
    values = tensor.detach()
    if values.is_complex():
        values = torch.view_as_real(values.resolve_conj())
    return values.float() if values.dtype.itemsize < 4 else values


def is_finite(tensor: Tensor) -> bool:
    """Are all values finite? The quick question, for tensors of any layout."""
    tensor = local(tensor)
    if tensor.layout != torch.strided:
        tensor = tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()
    return tensor.device.type == "meta" or _is_freed(tensor) or bool(torch.isfinite(tensor.detach()).all())


def first_bad_row(tensor: Tensor) -> int | None:
    """The first index along the first dimension under which a value is not finite."""
    if not readable(tensor) or tensor.dim() == 0:
        return None
    bad = ~torch.isfinite(tensor.detach()).reshape(tensor.shape[0], -1).all(dim=1)
    rows = bad.nonzero()
    return int(rows[0]) if rows.numel() else None


def first_bad_index(tensor: Tensor) -> tuple[int, ...] | None:
    """Where the first value that is not finite stands."""
    if not readable(tensor):
        return None
    where = (~torch.isfinite(tensor.detach())).nonzero()
    return tuple(int(i) for i in where[0]) if where.numel() else None


def said(value: float) -> str:
    """A number as one says it: short, without false precision."""
    return f"{value:.4g}"


def span(numbers: Numbers) -> str:
    """The range in words."""
    if math.isnan(numbers.low):
        return "no finite value"
    return said(numbers.low) if numbers.low == numbers.high else f"{said(numbers.low)} to {said(numbers.high)}"
