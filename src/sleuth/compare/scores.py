"""How far a value is from the truth, in units of what float32 itself costs the reference there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sleuth.compare.values import Array, in_float64

EPS = 2.0**-23
# Correct float32 implementations stay within 2.4 times the reference's own error (1,048 comparisons of clean models).
LIMIT = 6.0
# Below this it is not told which of a few neighbouring values parted first: one of them did.
SURE = 4 * LIMIT
_LEAST_RMS = 0.3  # of a rounding step
# The error of a handful of numbers can be small by luck.
_FEW = 8.0


@dataclass(frozen=True, slots=True)
class Score:
    """`error` and `noise` relative to the size of the values; `score` is the larger of two ratios, rms and worst."""

    error: float
    noise: float
    score: float
    worst: float

    @property
    def parted(self) -> bool:
        return not self.score <= LIMIT


@dataclass(frozen=True, slots=True)
class Noise:
    """What float32 costs the reference at one value: its error's rms and maximum, and the scale they are relative to."""

    rms: float
    most: float
    scale: float
    count: int

    @classmethod
    def of(cls, truth: Array, single: Array, scale: float | None = None, eps: float = EPS) -> Noise:
        """`eps` is the rounding step of the format that `single` is in."""
        wide, narrow = in_float64(truth), in_float64(single)
        scale = size_of(wide) if scale is None else scale
        off = _difference(narrow, wide)
        off = off[np.isfinite(off)]  # what overflows in this format is no yardstick for the rest
        if not off.size or not scale:
            return cls(_LEAST_RMS * eps, eps, scale or 1.0, wide.size)
        return cls(
            max(float(np.sqrt(np.mean(np.abs(off) ** 2))) / scale, _LEAST_RMS * eps),
            max(float(np.abs(off).max()) / scale, eps),
            scale,
            wide.size,
        )

    def at_least(self, rms: float) -> Noise:
        return self if self.rms >= rms else replace(self, rms=rms, most=self.most * rms / self.rms)


def size_of(truth: Array) -> float:
    """The rms of what is finite."""
    wide = in_float64(truth)
    finite = wide[np.isfinite(wide)]
    return float(np.sqrt(np.mean(np.abs(finite) ** 2))) if finite.size else 0.0


def score(truth: Array, noise: Noise, target: Array) -> Score:
    """How far the target's value is from the truth. Not a number, or infinite, where the truth is not: infinitely far."""
    wide, other = in_float64(truth), in_float64(target)
    if not wide.size:
        return Score(0.0, noise.rms, 0.0, 0.0)
    off = _difference(other, wide)
    if not np.isfinite(off).all():
        return Score(float("inf"), noise.rms, float("inf"), float("inf"))
    scale = max(noise.scale, size_of(wide))  # what a fault has made larger is rounded more coarsely too
    rms = float(np.sqrt(np.mean(np.abs(off) ** 2))) / scale
    most = float(np.abs(off).max()) / scale
    doubt = 1.0 + _FEW / max(noise.count, 1)
    return Score(rms, noise.rms, max(rms / noise.rms, most / noise.most) / doubt, most)


def _difference(value: Array, truth: Array) -> Array:
    """Where both are the same infinity, or both no number, they agree."""
    with np.errstate(invalid="ignore", over="ignore"):
        off = value - truth
    same = (value == truth) | (np.isnan(value) & np.isnan(truth))
    return np.where(same, 0.0, off)
