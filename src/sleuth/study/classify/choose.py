"""A linear classifier on features that are there: which kind and how strong is chosen on folds of the training set."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import issparse
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

Array = Any
Kind = Literal["svm", "lr"]

INNER_FOLDS = 3
# How much surer, or less sure, a classifier's own scores may be made.
_SHARPEST, _BLUNTEST = 50.0, 0.02
# A direction so short is rounding.
_NOTHING = 1e-6


class TooFew(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Candidate:
    """A support vector machine or a logistic regression, and how freely it may fit (scikit-learn's C)."""

    kind: Kind
    freedom: float


SVMS = tuple(Candidate("svm", freedom) for freedom in (0.1, 0.3, 1.0))
LOGISTIC = tuple(Candidate("lr", freedom) for freedom in (5.0, 20.0))


@dataclass(frozen=True)
class Linear:
    """A row of weights for each class; `sharpness` turns its scores into probabilities (1 / temperature)."""

    classes: Array
    weights: Array
    bias: Array
    sharpness: float
    candidate: Candidate

    def decide(self, features: Array) -> Array:
        return np.asarray(features @ self.weights.T) + self.bias

    def probabilities(self, features: Array) -> Array:
        return softmax(self.sharpness * self.decide(features), axis=1)


def fit_best(features: Array, labels: Array, candidates: Sequence[Candidate], seed: int = 0) -> Linear:
    """The candidate with the best macro-F1 on inner folds, calibrated on them, then fitted to everything.

    Classes weigh the same, however many posts they have: else the rare ones are never guessed. Raises TooFew."""
    smallest = min(Counter(labels.tolist()).values())
    if len(set(labels.tolist())) < 2:
        raise TooFew("a classifier needs posts of at least two labels")
    if smallest < 2:
        return fit(features, labels, candidates[len(candidates) // 2])
    folds = StratifiedKFold(min(INNER_FOLDS, smallest), shuffle=True, random_state=seed)
    splits = list(folds.split(labels, labels))
    rows, back = _turned(features)
    held = {candidate: _held_out(rows, labels, candidate, splits) for candidate in candidates}
    classes = np.unique(labels)
    best = max(candidates, key=lambda candidate: _macro_f1(labels, classes[held[candidate].argmax(axis=1)]))
    fitted = fit(rows, labels, best)
    weights = fitted.weights if back is None else np.asarray(fitted.weights @ back)
    return replace(fitted, weights=weights, sharpness=sharpness(held[best], np.searchsorted(classes, labels)))


def fit(features: Array, labels: Array, candidate: Candidate) -> Linear:
    """That candidate, fitted and not calibrated."""
    model = (
        LinearSVC(C=candidate.freedom, class_weight="balanced", tol=1e-3)
        if candidate.kind == "svm"
        else LogisticRegression(C=candidate.freedom, class_weight="balanced", tol=1e-3, max_iter=500)
    )
    with warnings.catch_warnings():
        # Where a fit stops a little early is of no account here: the held-out folds judge what came out.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, labels)
    weights, bias = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        weights, bias = np.vstack([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    return Linear(model.classes_, weights, bias, 1.0, candidate)


def sharpness(scores: Array, truth: Array) -> float:
    """The factor on the scores under which what is true is most probable (temperature scaling)."""

    def surprise(log_factor: float) -> float:
        scaled = np.exp(log_factor) * scores
        return float(np.mean(logsumexp(scaled, axis=1) - scaled[np.arange(len(truth)), truth]))

    bounds = (float(np.log(_BLUNTEST)), float(np.log(_SHARPEST)))
    return float(np.exp(minimize_scalar(surprise, bounds=bounds, method="bounded").x))


def _turned(features: Array) -> tuple[Array, Array | None]:
    """The same posts in as few dimensions as there are posts, where that is less work, and the way back for weights.

    What is fitted sees the features only through their products, which a rotation leaves as they are."""
    if not issparse(features) or features.shape[0] ** 2 >= features.nnz:
        return features, None
    values, vectors = np.linalg.eigh((features @ features.T).toarray().astype(float))
    kept = values > values.max() * _NOTHING
    lengths = np.sqrt(values[kept])
    return vectors[:, kept] * lengths, (features.T @ (vectors[:, kept] / lengths)).T


def _held_out(features: Array, labels: Array, candidate: Candidate, splits: Sequence[tuple[Array, Array]]) -> Array:
    scores = np.zeros((len(labels), len(np.unique(labels))))
    for learn, held in splits:
        scores[held] = fit(features[learn], labels[learn], candidate).decide(features[held])
    return scores


def _macro_f1(truth: Array, guess: Array) -> float:
    return float(f1_score(truth, guess, average="macro", zero_division=0))
