"""Values cut off at the ends of a range that is too narrow for them, as a wrongly calibrated quantiser does."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from sleuth.compare.causes import ANY, Proposal, Target
from sleuth.compare.causes._rounding import snapped, step_of
from sleuth.compare.causes._sightings import Sighting, sightings
from sleuth.compare.reference import Call
from sleuth.compare.values import Array, in_float64

OPS = ANY
_FIX = "calibrate the range on inputs like these, or widen it; check the scale and the zero point"
# A single value at the end of its range is no sign of one.
_LEAST_CUT = 3
_NEAR = 1e-3


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    for sighting in sightings(call, target):
        found = _limits(in_float64(sighting.own.numpy()), in_float64(sighting.other))
        if found is not None:
            yield _proposal(sighting, *found)


def _proposal(sighting: Sighting, limits: dict[str, float], step: float | None) -> Proposal:
    shown = " and ".join(f"{word} {end:.4g}" for word, end in limits.items())
    fine = "" if step is None else f", in steps of {step:.4g}"
    return Proposal(
        f"{sighting.whose} cut off {shown}{fine}",
        _FIX,
        sighting.made(lambda value: _clipped(value, limits, step, sighting.other)),
        rank=1,
    )


def _limits(own: Array, other: Array) -> tuple[dict[str, float], float | None] | None:
    """The ends at which values are cut off, and the step of the grid, where there is one."""
    if other.size < 4 * _LEAST_CUT or not np.isfinite(own).all() or not np.isfinite(other).all():
        return None
    low, high = float(other.min()), float(other.max())
    slack = _NEAR * max(abs(low), abs(high))
    below, above = own < low - slack, own > high + slack
    ends = (("below", low, below), ("above", high, above))
    cut = {word: end for word, end, out in ends if out.sum() >= _LEAST_CUT and bool((other[out] == end).all())}
    inside = ~(below | above)
    if not cut or not inside.any():
        return None
    step = step_of(other)
    room = slack if step is None else 0.51 * step
    return (cut, step) if np.abs(own - other)[inside].max() <= room else None


def _clipped(value: Tensor, limits: dict[str, float], step: float | None, target: Array) -> Tensor:
    clipped = torch.clamp(value, limits.get("below"), limits.get("above"))
    return clipped if step is None else snapped(clipped, target, step)
