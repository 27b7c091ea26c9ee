"""How common each class is in a corpus, corrected for what the classifier gets wrong, with intervals.

Counting guesses is biased: a class that is often missed looks rarer than it is. What the classifier did to posts whose
class is known (each guessed by a model that had not seen it) tells how to undo that. Two ways, for two situations:

- `drawn`: the labelled posts are a random sample of this very corpus, weights known. Among posts guessed as i, the
  share that truly is j is the same in both: p(j) = Σ q(i) · P(true j | guessed i).
- `shifted`: they are not, and classes may be more or less common here. Then only how a class's posts are guessed is
  taken to be the same. Of all p on the simplex that one is chosen under which the guesses q are likeliest,
  q(i) = Σ P(guessed i | true j) p(j),
  by expectation-maximisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sleuth.study.classify.evaluate import HeldOut, cells

Array = Any
Way = Literal["drawn", "shifted"]

RESAMPLES = 1000
_ROUNDS = 2000
_STILL = 1e-6


@dataclass(frozen=True)
class Share:
    """Of one class: the share of guesses, the corrected share with its interval, and the labelled posts' own share."""

    label: str
    counted: float
    corrected: float
    low: float
    high: float
    labelled: float


def shares(
    held: HeldOut,
    guessed: Array,
    *,
    way: Way = "shifted",
    strata: Array | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Share, ...]:
    """`guessed`: how many posts of the corpus were taken for each class. `strata`: of which stratum each label is.

    Labelled posts and corpus are both resampled; the labelled ones with random weights that are never nought, so that
    no resample loses a rare class altogether."""
    random = np.random.default_rng(seed)
    guessed = np.asarray(guessed, dtype=float)
    total = int(guessed.sum())
    if total == 0:
        raise ValueError("the corpus has no posts to count")
    counted = guessed / total
    matrices = _matrices(held, _factors(held, strata, resamples, random)) + _unseen(held, resamples, random)
    drawn = random.multinomial(total, counted, size=resamples) / total
    correct = _inverted if way == "drawn" else _unmixed
    (point,) = _matrices(held, np.ones((1, len(held.truth))))
    corrected = correct(point[None], counted[None])[0]
    spread = correct(matrices, drawn)
    low, high = np.quantile(spread, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    own = point.sum(axis=1) / point.sum()
    columns = zip(held.classes, counted, corrected, low, high, own, strict=True)
    return tuple(Share(label, *map(float, figures)) for label, *figures in columns)


def _factors(held: HeldOut, strata: Array | None, resamples: int, random: Any) -> Array:
    """Rubin's Bayesian bootstrap, within each stratum: what a stratum counts for is known and does not vary."""
    drawn = random.exponential(size=(resamples, len(held.truth)))
    places = np.zeros(len(held.truth)) if strata is None else np.asarray(strata)
    for place in np.unique(places):
        inside = places == place
        whole = held.weights[inside].sum()
        drawn[:, inside] *= whole / (drawn[:, inside] * held.weights[inside]).sum(axis=1, keepdims=True)
    return drawn


def _unseen(held: HeldOut, resamples: int, random: Any) -> Array:
    """Errors that few posts have not shown can still be made: for each class one post's weight, over all cells.

    Without it the interval of a class of 20 posts that were all guessed rightly would have no width (Perks' prior)."""
    size = len(held.classes)
    return held.weights.mean() * random.gamma(1 / size, size=(resamples, size, size))


def _matrices(held: HeldOut, factors: Array) -> Array:
    """True classes by guessed ones, for each row of factors on the weights; repeats of a cross-validation in part."""
    size = len(held.classes)
    counted = [(cells(held, guess).T @ factors.T).T for guess in held.guesses]
    return np.mean(counted, axis=0).reshape(-1, size, size)


def _inverted(matrices: Array, counted: Array) -> Array:
    guessed = matrices.sum(axis=1, keepdims=True)
    # A class that is never guessed in the labelled set says nothing there; take a guess at its word.
    truly = np.where(guessed > 0, matrices / np.where(guessed > 0, guessed, 1), np.eye(matrices.shape[1]))
    return np.einsum("nji,ni->nj", truly, counted)


def _unmixed(matrices: Array, counted: Array) -> Array:
    """The likeliest shares, for many resamples at once. Each round raises the likelihood and stays on the simplex."""
    guessed_as = matrices / matrices.sum(axis=2, keepdims=True)
    found = np.full(counted.shape, 1 / counted.shape[1])
    for _ in range(_ROUNDS):
        expected = np.einsum("nji,nj->ni", guessed_as, found)
        ratio = np.divide(counted, expected, out=np.zeros_like(counted), where=expected > 0)
        better = found * np.einsum("nji,ni->nj", guessed_as, ratio)
        better /= better.sum(axis=1, keepdims=True)
        if np.abs(better - found).max() < _STILL:
            return better
        found = better
    return found
