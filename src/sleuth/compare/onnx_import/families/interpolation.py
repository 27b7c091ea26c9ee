"""Where a resized axis takes its numbers from, and with which weights; see ONNX's definition of Resize."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def places(how: str, size: int, wanted: int, scale: float, part: tuple[float, float]) -> Tensor:
    """For every place of the resized axis, the place on the axis as it was."""
    along = torch.arange(wanted, dtype=torch.float64)
    if how == "align_corners":
        reach = scale * size  # what the definition calls the length, which need not be whole
        return along * (size - 1) / (reach - 1) if reach != 1 else along * 0
    if how == "asymmetric":
        return along / scale
    if how == "tf_crop_and_resize":
        start, end = part
        if wanted > 1:
            return start * (size - 1) + along * (end - start) * (size - 1) / (wanted - 1)
        return along * 0 + 0.5 * (start + end) * (size - 1)
    if how == "pytorch_half_pixel" and wanted == 1:
        return along * 0
    halves = (along + 0.5) / scale - 0.5
    if how == "half_pixel_symmetric":
        halves = halves + size / 2 * (1 - wanted / (scale * size))
    return halves


def weights(mode: str, where: Tensor, size: int, scale: float, cubic: float, exclude_outside: bool) -> Tensor:
    """One row for each place of the resized axis; a shrunken axis that is antialiased takes more neighbours."""
    narrow = min(scale, 1.0)
    reach = 1 if mode == "linear" else 2
    first = math.floor(-reach / narrow) + 1
    rows = torch.zeros(len(where), size, dtype=torch.float64)
    for row, place in enumerate(where.tolist()):
        base = math.floor(place)
        near = [
            _weight(mode, (step - (place - base)) * narrow, cubic)
            for step in range(first, 2 * reach - first - reach + 1)
        ]
        inside = [0 <= base + first + step < size for step in range(len(near))]
        if exclude_outside:
            near = [one if within else 0.0 for one, within in zip(near, inside, strict=True)]
        total = sum(near)
        for step, one in enumerate(near):
            rows[row, min(max(base + first + step, 0), size - 1)] += one / total
    return rows


def _weight(mode: str, distance: float, cubic: float) -> float:
    distance = abs(distance)
    if mode == "linear":
        return max(0.0, 1.0 - distance)
    if distance <= 1:
        return ((cubic + 2) * distance - (cubic + 3)) * distance * distance + 1
    if distance < 2:
        return ((cubic * distance - 5 * cubic) * distance + 8 * cubic) * distance - 4 * cubic
    return 0.0
