"""Numbers in fewer bits: the formats, and whether an array's values lie on the grid of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sleuth.compare.values import Array, in_float64

# A grid of so many steps is what 8 bits hold; an array must have this many values more than it has steps.
_MOST_STEPS = 256
_LEAST_VALUES = 16
# What a layer in fewer bits may be off by, as a whole, in units of one rounding: a recurrent one rounds many times.
_ROUNDINGS = 4


@dataclass(frozen=True, slots=True)
class Format:
    """`bits` of the mantissa, with the leading one; the smallest exponent; the largest number."""

    name: str
    dtype: torch.dtype | None
    bits: int


FORMATS = (
    Format("float16", torch.float16, 11),
    Format("bfloat16", torch.bfloat16, 8),
    Format("TF32 (10 bits after the point)", None, 11),
)


def rounded(tensor: Tensor, form: Format) -> Tensor:
    """To the nearest, as the hardware does from float32."""
    if not tensor.is_floating_point():
        return tensor
    if form.dtype is not None:
        return tensor.float().to(form.dtype).to(tensor.dtype)
    mantissa, exponent = torch.frexp(tensor.float())
    return torch.ldexp((mantissa * 2**form.bits).round() / 2**form.bits, exponent).to(tensor.dtype)


def on_grid(array: Array, form: Format) -> bool:
    """All values are exactly ones of the format, and not few."""
    if form.dtype is None or array.size < _LEAST_VALUES or array.dtype.kind not in "fV":
        return False
    tensor = torch.from_numpy(in_float64(array))
    return bool(tensor.isfinite().all()) and bool((rounded(tensor, form) == tensor).all())


def coarsest(own: Tensor, other: Tensor, slack: Tensor) -> Format | None:
    """The format in which the other must have been computed: its values lie on the grid, give or take `slack`, ours do
    not, and they are no farther from ours than a few roundings. What bfloat16 keeps, float16 mostly keeps too."""
    if other.shape != own.shape or not other.isfinite().all() or not own.any():
        return None
    for form in sorted((form for form in FORMATS if form.dtype is not None), key=lambda form: form.bits):
        near = (other - own).square().mean().sqrt() <= _ROUNDINGS * 2.0**-form.bits * own.square().mean().sqrt()
        if near and _lies_on(other, form, slack) and not _lies_on(own, form, slack):
            return form
    return None


def _lies_on(values: Tensor, form: Format, slack: Tensor) -> bool:
    """As far as the slack leaves room between two points of the grid to be off it."""
    step = torch.ldexp(torch.ones_like(values), torch.frexp(values)[1] - form.bits)
    some = values != 0
    telling = some & (slack.expand_as(values) <= step / 8)
    if int(telling.sum()) < max(_LEAST_VALUES, int(some.sum()) // 2):
        return False
    return bool(((rounded(values, form) - values).abs() <= slack)[telling].all())


def snapped(value: Tensor, target: Array, grid: Format | float) -> Tensor:
    """Rounded to the grid; near the middle of two points, where float32 may go either way, to the target's."""
    other = torch.from_numpy(in_float64(target)).reshape(value.shape)
    if isinstance(grid, Format):
        own = rounded(value, grid)
        half = torch.ldexp(torch.ones_like(value), torch.frexp(value)[1] - grid.bits) / 2
    else:
        own = (value / grid).round() * grid
        half = torch.full_like(value, grid / 2)
    near = (other - value).abs() <= half * 1.02
    return torch.where(near, other, own)


def step_of(array: Array) -> float | None:
    """The distance of an equidistant grid that holds all values, if there are few enough points and many values."""
    if array.dtype.kind not in "fV" or array.size < 4 * _LEAST_VALUES:
        return None
    if len(np.unique(array.ravel()[: 4 * _MOST_STEPS])) > _MOST_STEPS:
        return None
    points = np.unique(in_float64(array))
    if not np.isfinite(points).all() or not _LEAST_VALUES <= len(points) <= min(_MOST_STEPS, array.size // 2):
        return None
    gaps = np.diff(points)
    real = gaps[gaps > 1e-5 * np.abs(points).max()]
    if not len(real):
        return None
    step = float(np.median(real[real < 1.5 * real.min()]))
    numbers = points / step
    fitted = float((np.round(numbers) @ points) / (np.round(numbers) @ np.round(numbers)))
    off = np.abs(points - np.round(points / fitted) * fitted).max()
    return fitted if off < 1e-3 * fitted and np.ptp(points) / fitted < 4 * _MOST_STEPS else None
