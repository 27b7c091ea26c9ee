"""Zhang et al.'s own figures: their split, their α search, and a metric that counts each kind of error once.

Their published code enters a wrong guess into the confusion matrix only while that cell is empty. However many posts
of one class are taken for another, it counts as one error. The table they print fits this and no other count of the
posts they say they tested on; so 79.6 % precision and 80.3 % recall are no accuracy, and no bar for another model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from sleuth.study.classify.choose import TooFew
from sleuth.study.classify.keywords import ALPHAS, KeywordModel

Array = Any

TEST_SHARE = 0.4
PRINTED_ALPHA = 0.18


@dataclass(frozen=True)
class Printed:
    """A line of the paper's table: how many posts it tested on, and what it found."""

    category: str
    tested: int
    precision: float
    recall: float


PRINTED = (
    Printed("implementation", 108, 0.875, 0.824),
    Printed("program-crash", 78, 0.853, 0.829),
    Printed("performance", 27, 0.733, 0.786),
    Printed("installation", 38, 0.903, 0.903),
    Printed("comprehension", 28, 0.750, 0.706),
    Printed("training-anomaly", 45, 0.773, 0.810),
    Printed("model-migration", 28, 0.684, 0.765),
)


@dataclass(frozen=True)
class Capped:
    """Means over the classes, each error cell counted at most once. A class that is never guessed has no precision."""

    precision: float
    recall: float
    right: int
    errors: int


@dataclass(frozen=True)
class AsPublished:
    """One run of the paper's protocol: the capped figures beside what the same guesses are worth."""

    alpha: float
    tested: int
    accuracy: float
    macro_f1: float
    capped: Capped
    majority_accuracy: float
    majority_capped: Capped


@dataclass(frozen=True)
class Reading:
    """Counts that print as a line does. `fits`: whether its recall is that of any whole number of the tested posts."""

    printed: Printed
    fits: bool
    right: int
    false_positives: int
    false_negatives: int


def capped(matrix: Array) -> Capped:
    """The metric of the published code. Rows are true classes, columns guessed ones."""
    matrix = np.asarray(matrix)
    right = np.diag(matrix).astype(float)
    errors = ((matrix > 0) & ~np.eye(len(matrix), dtype=bool)).astype(float)
    guessed, true = right + errors.sum(axis=0), right + errors.sum(axis=1)
    return Capped(
        precision=_mean(right[guessed > 0] / guessed[guessed > 0]),
        recall=_mean(right[true > 0] / true[true > 0]),
        right=int(right.sum()),
        errors=int(errors.sum()),
    )


def as_published(
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    picked: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> AsPublished:
    """60 % to learn from, 40 % to test on; α in steps of 0.01, the best *on the test set*, norm as in the code."""
    indices = np.arange(len(labels))
    try:
        learn, test = train_test_split(indices, test_size=TEST_SHARE, random_state=seed, stratify=labels)
    except ValueError:
        raise TooFew("the published protocol needs at least two posts of every label, in both parts") from None
    every = np.asarray(labels)
    model = KeywordModel(0.0, picked, norm="l2").fit([texts[i] for i in learn], every[learn].tolist())
    truth = np.searchsorted(model.classes_, every[test])
    shares, picks = model.parts([texts[i] for i in test])
    guesses = {alpha: (shares + alpha * picks).argmax(axis=1) for alpha in ALPHAS}
    matrices = {alpha: _matrix(truth, guess, len(model.classes_)) for alpha, guess in guesses.items()}
    alpha = max(ALPHAS, key=lambda each: _sum(capped(matrices[each])))
    commonest = np.full_like(truth, np.bincount(truth).argmax())
    return AsPublished(
        alpha=alpha,
        tested=len(test),
        accuracy=float((guesses[alpha] == truth).mean()),
        macro_f1=float(f1_score(truth, guesses[alpha], average="macro", zero_division=0)),
        capped=capped(matrices[alpha]),
        majority_accuracy=float((commonest == truth).mean()),
        majority_capped=capped(_matrix(truth, commonest, len(model.classes_))),
    )


def readings() -> list[tuple[Reading, ...]]:
    """Every way to read the paper's table with capped cells: what one class wins wrongly another has lost."""
    ways = product(*(_ways(line, len(PRINTED) - 1) for line in PRINTED))
    return [
        way for way in ways if sum(each.false_positives for each in way) == sum(each.false_negatives for each in way)
    ]


def _ways(line: Printed, most: int) -> list[Reading]:
    fits = any(_prints(right, line.tested, line.recall) for right in range(line.tested + 1))
    return [
        Reading(line, fits, right, false_positives, false_negatives)
        for right in range(line.tested + 1)
        for false_positives in range(most + 1)
        if _prints(right, right + false_positives, line.precision)
        for false_negatives in range(most + 1)
        if _prints(right, right + false_negatives, line.recall)
    ]


def _prints(part: int, whole: int, as_printed: float) -> bool:
    return whole > 0 and abs(part / whole - as_printed) <= 0.0005 + 1e-9


def _matrix(truth: Array, guess: Array, size: int) -> Array:
    return np.bincount(truth * size + guess, minlength=size * size).reshape(size, size)


def _sum(found: Capped) -> float:
    return found.precision + found.recall


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0
