"""Dropout that still acts: some values are zero and the others larger by 1 / (1 - p), or no two runs agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from sleuth.compare.causes import ANY, Proposal, Target
from sleuth.compare.causes._sightings import Sighting, sightings
from sleuth.compare.reference import Call
from sleuth.compare.values import Array, in_float64

OPS = ANY
_FIX = "call model.eval() (training=False in Keras) before predicting or exporting"
# As many must be dropped, and as many left, before a pattern is one.
_LEAST = 4
_SAME = 1e-4
# So many numbers show which one is the commonest.
_PART = 1 << 12
# What alpha dropout puts for what it drops: -scale * alpha of SELU.
_ALPHA = -1.7580993408473766


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    for sighting in sightings(call, target):
        own, other = in_float64(sighting.own.numpy()), in_float64(sighting.other)
        if np.isfinite(own).all() and np.isfinite(other).all():
            yield from _zeros(sighting, own, other)
            yield from _alpha(sighting, own, other)
    yield from _restless(call, target)


def _zeros(sighting: Sighting, own: Array, other: Array) -> Iterator[Proposal]:
    lost = (other == 0) & (own != 0)
    left = other != 0
    if lost.sum() < _LEAST or left.sum() < _LEAST or bool((left & (own == 0)).any()):
        return
    factor = float(np.median(other[left] / own[left]))
    if factor < 1 or np.abs(own[left] * factor - other[left]).max() > _SAME * np.abs(other).max():
        return
    rate = 1 - 1 / factor
    if rate < _SAME or abs(lost.sum() / (lost.sum() + left.sum()) - rate) > _allowed(rate, lost):
        return
    kept = torch.from_numpy(np.where(lost, 0.0, 1 / (1 - rate)))
    whole = " (whole channels)" if _in_channels(lost, own) else ""
    yield Proposal(
        f"dropout is active: {lost.mean():.0%} of the values are zero{whole}, the others multiplied by {factor:.4g}",
        _FIX,
        sighting.made(lambda value: value * kept),
    )


def _allowed(rate: float, lost: Array) -> float:
    """Four deviations of a coin tossed for every value, or for every channel."""
    tosses = lost.size if lost.ndim < 3 else int(np.prod(lost.shape[:2]))
    return 4 * float(np.sqrt(rate * (1 - rate) / tosses)) + 0.05


def _in_channels(lost: Array, own: Array) -> bool:
    if lost.ndim < 3:
        return False
    inner = tuple(range(2, lost.ndim))
    return bool((lost.any(inner) == (lost | (own == 0)).all(inner))[(own != 0).any(inner)].all())


def _alpha(sighting: Sighting, own: Array, other: Array) -> Iterator[Proposal]:
    """Dropped values all become one number, and the others are scaled and shifted: a * x + b."""
    values, counts = np.unique(other.ravel()[:: max(other.size // _PART, 1)], return_counts=True)
    constant = float(values[counts.argmax()])
    lost = other == constant
    left = ~lost
    if lost.sum() < _LEAST or left.sum() < _LEAST or not constant or np.ptp(own[left]) == 0:
        return
    factor, shift = _line(own[left], other[left])
    if np.abs(factor * own[left] + shift - other[left]).max() > _SAME * np.abs(other).max():
        return
    if abs(factor * _ALPHA + shift - constant) > _SAME * abs(constant) or np.unique(own[lost]).size < _LEAST:
        return
    mask, put = torch.from_numpy(lost), torch.as_tensor(constant, dtype=torch.float64)
    yield Proposal(
        f"alpha dropout is active: {lost.mean():.0%} of the values are {constant:.4g}",
        _FIX,
        sighting.made(lambda value: torch.where(mask, put, value * factor + shift)),
    )


def _line(x: Array, y: Array) -> tuple[float, float]:
    centre = x - x.mean()
    factor = float((centre @ y) / (centre @ centre))
    return factor, float(y.mean() - factor * x.mean())


def _restless(call: Call, target: Target) -> Iterator[Proposal]:
    """Two runs of the target on the same inputs that are as far from each other as from the reference."""
    if target.again is None or target.again.shape != target.value.shape or call.op != "dropout":
        return
    own = in_float64(call.again().numpy())
    if own.shape == target.value.shape:
        apart = float(np.abs(in_float64(target.again) - in_float64(target.value)).max())
        if apart > 0.1 * float(np.abs(in_float64(target.value) - own).max()):
            value = torch.from_numpy(in_float64(target.value))
            yield Proposal("dropout is active: two runs on the same inputs differ", _FIX, lambda call: value, rank=1)
