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
# Below this no mask fills.
_HUGE = 1e3
# So many numbers at a time stay in the processor's cache, however often they are looked at.
_PIECE = 1 << 15


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
    """What float32 costs the reference at one value: its error's rms and maximum, and what they are relative to."""

    rms: float
    most: float
    scale: float
    count: int

    @classmethod
    def of(cls, truth: Array, single: Array, scale: float | None = None, eps: float = EPS) -> Noise:
        """`eps` is the rounding step of the format that `single` is in."""
        # What overflows in this format is no yardstick for the rest.
        count, size, rms, most = _measured(in_float64(truth), single, finite_only=True)
        scale = size if scale is None else scale
        if not count or not scale:
            return cls(_LEAST_RMS * eps, eps, scale or 1.0, count)
        return cls(max(rms / scale, _LEAST_RMS * eps), max(most / scale, eps), scale, count)

    def at_least(self, rms: float) -> Noise:
        return self if self.rms >= rms else replace(self, rms=rms, most=self.most * rms / self.rms)

    def with_error(self, truth: Array, moved: Array) -> Noise:
        """At least what rounding has done in another run."""
        _, _, rms, most = _measured(in_float64(truth), moved, finite_only=True)
        return replace(self, rms=max(self.rms, rms / self.scale), most=max(self.most, most / self.scale))


def size_of(truth: Array) -> float:
    """The rms of what is finite."""
    wide = in_float64(truth)
    if not wide.size:
        return 0.0
    squares = _squares(wide)
    if not np.isfinite(squares):
        finite = wide[np.isfinite(wide)]
        most = float(np.abs(finite).max(initial=0.0)) or 1.0  # the square of a large number need not be finite
        return most * float(np.sqrt(_squares(finite / most) / max(finite.size, 1)))
    return float(np.sqrt(squares / wide.size))


def score(truth: Array, noise: Noise, target: Array) -> Score:
    """How far the target's value is from the truth; infinitely far where it is not finite and the truth is."""
    count, size, rms, most = _measured(in_float64(truth), target)
    if not count:
        return Score(0.0, noise.rms, 0.0, 0.0)
    if not np.isfinite(rms):
        return Score(float("inf"), noise.rms, float("inf"), float("inf"))
    scale = max(noise.scale, size)  # what a fault has made larger is rounded more coarsely too
    rms, most = rms / scale, most / scale
    doubt = 1.0 + _FEW / max(noise.count, 1)
    return Score(rms, noise.rms, max(rms / noise.rms, most / noise.most) / doubt, most)


def _measured(wide: Array, other: Array, finite_only: bool = False) -> tuple[int, float, float, float]:
    """How many numbers count, their rms, and the rms and the maximum of the difference."""
    if quick := _at_a_glance(wide, other):
        return quick
    wide, other = _without_fillings(wide, other)
    return wide.size, size_of(wide), *_distance(other, wide, finite_only)


def _at_a_glance(wide: Array, other: Array) -> tuple[int, float, float, float] | None:
    """All of it in one reading, of plain numbers; None where a closer look is needed."""
    if wide.dtype.kind != "f" or wide.shape != other.shape or not wide.size:
        return None
    squares = off_squares = most = off_most = 0.0
    mine, theirs = wide.ravel(), other.ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, wide.size, _PIECE):
            piece = mine[start : start + _PIECE]
            off = np.subtract(theirs[start : start + _PIECE], piece, dtype=wide.dtype)
            squares += float(piece @ piece)
            off_squares += float(off @ off)
            most = max(most, float(piece.max()), -float(piece.min()))
            off_most = max(off_most, float(off.max()), -float(off.min()))
    if most > _HUGE or not np.isfinite(squares + off_squares):
        return None
    return wide.size, float(np.sqrt(squares / wide.size)), float(np.sqrt(off_squares / wide.size)), off_most


def _distance(value: Array, truth: Array, finite_only: bool = False) -> tuple[float, float]:
    """The rms and the maximum of their difference. Where both are the same infinity, or both no number, they agree."""
    if not truth.size:
        return 0.0, 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.subtract(value, truth, dtype=truth.dtype)
        squares = _squares(off)
    if not np.isfinite(squares):
        same = (value == truth) | (np.isnan(value) & np.isnan(truth))
        off = np.where(same, 0.0, off)
        off = off[np.isfinite(off)] if finite_only else off
        if not np.isfinite(off).all():
            return float("inf"), float("inf")
        size = size_of(off)
        return size, float(np.abs(off).max(initial=0.0))
    most = np.abs(off).max() if off.dtype.kind == "c" else max(off.max(), -off.min())
    return float(np.sqrt(squares / off.size)), float(most)


def _squares(array: Array) -> float:
    flat = array.ravel()
    return float(np.vdot(flat, flat).real)


def _without_fillings(wide: Array, other: Array) -> tuple[Array, Array]:
    """Without the places that a mask has filled, on both sides, with one huge number: it would drown all others."""
    if wide.dtype.kind == "c" or not wide.size or not _HUGE < max(wide.max(), -wide.min()) < np.inf:
        return wide, other
    most = max(wide.max(), -wide.min())
    filled = np.abs(wide) > most / 2
    filling = wide[filled]
    rest = np.abs(wide[~filled]).max(initial=0.0)
    constant = bool(np.ptp(filling) <= most / 1000)
    if filled.all() or not constant or rest * 1000 > most:
        return wide, other
    theirs = other[filled]
    alike = bool((np.abs(theirs - filling) <= most / 2).all()) if np.isfinite(theirs).all() else False
    return (wide[~filled], other[~filled]) if alike else (wide, other)
