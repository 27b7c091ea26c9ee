"""What a classifier is worth: every post guessed by models that never saw it, and scores with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.model_selection import StratifiedKFold

from sleuth.study.classify.calibration import Calibration, calibration
from sleuth.study.classify.choose import TooFew

Array = Any
Tell = Callable[[int, int], None]

RESAMPLES = 2000
# So that the resamples of thousands of posts fit in a few megabytes.
_AT_ONCE = 250


class Classifier(Protocol):
    """What all models can do."""

    classes_: Array

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Any: ...
    def predict(self, texts: Sequence[str]) -> Array: ...
    def predict_proba(self, texts: Sequence[str]) -> Array: ...


@dataclass(frozen=True)
class HeldOut:
    """For every post its class and, for every repeat of the cross-validation, the probabilities it was given."""

    classes: tuple[str, ...]
    truth: Array
    probabilities: Array
    weights: Array

    @property
    def guesses(self) -> Array:
        """A row a repeat, a column a post."""
        return self.probabilities.argmax(axis=2)


@dataclass(frozen=True)
class Score:
    """A figure and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class OfClass:
    """How one class fares."""

    label: str
    posts: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Evaluation:
    """Everything that is said of a classifier. Rows of `matrix` are the true classes, columns the guessed ones."""

    classes: tuple[str, ...]
    posts: int
    repeats: int
    accuracy: Score
    macro_f1: Score
    # Each repeat's own macro-F1: how much the cut into folds alone matters.
    by_repeat: tuple[float, ...]
    majority_accuracy: float
    majority_macro_f1: float
    matrix: Array
    of_classes: tuple[OfClass, ...]
    calibration: Calibration


def cross_validate(
    make: Callable[[], Classifier],
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    tell: Tell | None = None,
) -> HeldOut:
    """Stratified folds, cut anew for every repeat. Whatever a model tunes, it tunes inside its training folds.

    Raises TooFew."""
    every = np.asarray(labels)
    classes, truth = np.unique(every, return_inverse=True)
    _check(Counter(every.tolist()), folds)
    probabilities = np.zeros((repeats, len(every), len(classes)))
    for repeat in range(repeats):
        cut = StratifiedKFold(folds, shuffle=True, random_state=seed + repeat)
        for number, (learn, held) in enumerate(cut.split(truth, truth)):
            model = make()
            model.fit([texts[i] for i in learn], every[learn].tolist())
            columns = np.searchsorted(classes, model.classes_)
            probabilities[repeat][np.ix_(held, columns)] = model.predict_proba([texts[i] for i in held])
            if tell:
                tell(repeat * folds + number + 1, repeats * folds)
    counted = np.ones(len(every)) if weights is None else np.asarray(weights, dtype=float)
    return HeldOut(tuple(map(str, classes)), truth, probabilities, counted)


def evaluate(held: HeldOut, *, confidence: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> Evaluation:
    """Scores over all posts and repeats; intervals from resampling posts."""
    matrices = [_matrix(held, guesses, held.weights) for guesses in held.guesses]
    matrix = np.mean(matrices, axis=0)
    drawn = _resampled(held, resamples, np.random.default_rng(seed))
    majority = np.zeros_like(matrix)
    majority[:, matrix.sum(axis=1).argmax()] = matrix.sum(axis=1)
    return Evaluation(
        classes=held.classes,
        posts=len(held.truth),
        repeats=len(matrices),
        accuracy=_score(float(np.mean(_accuracy(np.stack(matrices)))), drawn[:, 0], confidence),
        macro_f1=_score(float(np.mean(_macro_f1(np.stack(matrices)))), drawn[:, 1], confidence),
        by_repeat=tuple(float(_macro_f1(each)) for each in matrices),
        majority_accuracy=float(_accuracy(majority)),
        majority_macro_f1=float(_macro_f1(majority)),
        matrix=matrix,
        of_classes=_of_classes(held, matrix),
        calibration=calibration(held.probabilities, held.truth, held.weights),
    )


def _check(counts: Counter[str], folds: int) -> None:
    if len(counts) < 2:
        raise TooFew("a classifier needs posts of at least two labels")
    label, fewest = min(counts.items(), key=lambda item: item[1])
    if fewest < folds:
        way = f"--cv {fewest} cuts fewer" if fewest > 1 else "label more of them, or leave that label out"
        raise TooFew(
            f"{label!r} has {fewest} of the labelled posts, fewer than the {folds} folds of the evaluation; {way}"
        )


def _matrix(held: HeldOut, guesses: Array, weights: Array) -> Array:
    size = len(held.classes)
    cells = np.bincount(held.truth * size + guesses, weights=weights, minlength=size * size)
    return cells.reshape(size, size)


def _accuracy(matrix: Array) -> Array:
    """Of one matrix, or of a stack of them."""
    return np.trace(matrix, axis1=-2, axis2=-1) / matrix.sum(axis=(-2, -1))


def _f1(matrix: Array) -> Array:
    """Of every class; not a number where a resample holds nothing of it."""
    both = matrix.sum(axis=-2) + matrix.sum(axis=-1)
    hits = 2 * np.diagonal(matrix, axis1=-2, axis2=-1)
    return np.divide(hits, both, out=np.full(both.shape, np.nan), where=both > 0)


def _macro_f1(matrix: Array) -> Array:
    return np.nanmean(_f1(matrix), axis=-1)


def _resampled(held: HeldOut, resamples: int, random: Any) -> Array:
    posts, size = len(held.truth), len(held.classes)
    by_repeat = [cells(held, guess) for guess in held.guesses]
    found = []
    for start in range(0, resamples, _AT_ONCE):
        drawn = random.multinomial(posts, np.full(posts, 1 / posts), size=min(_AT_ONCE, resamples - start))
        matrices = [(each.T @ drawn.T).T.reshape(-1, size, size) for each in by_repeat]
        scores = [np.stack([_accuracy(each), _macro_f1(each)], axis=1) for each in matrices]
        found.append(np.mean(scores, axis=0))
    return np.vstack(found)


def cells(held: HeldOut, guesses: Array) -> Array:
    """Which cell of the matrix each post falls into, and with what weight."""
    posts, size = len(held.truth), len(held.classes)
    places = (np.arange(posts), held.truth * size + guesses)
    return csr_matrix((held.weights, places), shape=(posts, size * size))


def _score(value: float, resampled: Array, confidence: float) -> Score:
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Score(value, float(low), float(high))


def _of_classes(held: HeldOut, matrix: Array) -> tuple[OfClass, ...]:
    guessed, true, f1 = matrix.sum(axis=0), matrix.sum(axis=1), _f1(matrix)
    return tuple(
        OfClass(
            label=label,
            posts=int((held.truth == number).sum()),
            precision=float(matrix[number, number] / guessed[number]) if guessed[number] else 0.0,
            recall=float(matrix[number, number] / true[number]) if true[number] else 0.0,
            f1=float(f1[number]),
        )
        for number, label in enumerate(held.classes)
    )
