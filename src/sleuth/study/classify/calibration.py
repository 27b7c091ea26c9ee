"""Whether a probability means what it says: of the posts given 80 %, are 80 % right?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any

BANDS = 10


@dataclass(frozen=True)
class Band:
    """The posts whose guess was given a probability in this range: the mean of it, and the share that was right."""

    low: float
    high: float
    posts: float
    stated: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """`error` (ECE): how far stated and right lie apart, over all bands weighted by their posts."""

    error: float
    bands: tuple[Band, ...]


def calibration(probabilities: Array, truth: Array, weights: Array) -> Calibration:
    """Of guesses in (repeats, posts, classes); repeats count as parts of a post."""
    repeats = len(probabilities)
    stated = probabilities.max(axis=2).ravel()
    right = (probabilities.argmax(axis=2) == truth).ravel()
    counted = np.tile(weights / repeats, repeats)
    place = np.minimum((stated * BANDS).astype(int), BANDS - 1)
    bands = [_band(number, stated, right, counted * (place == number)) for number in range(BANDS)]
    filled = tuple(band for band in bands if band.posts > 0)
    apart = sum(band.posts * abs(band.stated - band.right) for band in filled)
    return Calibration(float(apart / counted.sum()), filled)


def _band(number: int, stated: Array, right: Array, counted: Array) -> Band:
    posts = float(counted.sum())
    share = counted / posts if posts else counted
    return Band(number / BANDS, (number + 1) / BANDS, posts, float(share @ stated), float(share @ right))
