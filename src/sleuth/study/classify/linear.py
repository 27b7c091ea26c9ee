"""The default: tf-idf of words, pairs and letters, and a linear classifier chosen on folds of the training set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from sleuth import words
from sleuth.study.classify.choose import LOGISTIC, SVMS, Candidate, fit_best

Array = Any


class LinearModel:
    """Candidates are compared on inner folds; `SVMS` or `LOGISTIC` alone restricts it to one kind."""

    def __init__(self, candidates: Sequence[Candidate] = SVMS + LOGISTIC, seed: int = 0) -> None:
        self.candidates = candidates
        self.seed = seed

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> LinearModel:
        self.vectorizer_ = tf_idf(len(texts))
        features = self.vectorizer_.fit_transform(texts)
        self.linear_ = fit_best(features, np.asarray(labels), self.candidates, self.seed)
        self.classes_ = self.linear_.classes
        return self

    def predict_proba(self, texts: Sequence[str]) -> Array:
        return self.linear_.probabilities(self.vectorizer_.transform(texts))

    def predict(self, texts: Sequence[str]) -> Array:
        return self.classes_[self.predict_proba(texts).argmax(axis=1)]


def tf_idf(size: int) -> TfidfVectorizer:
    """Terms of one post alone say nothing of the next, unless there are so few posts that every term is rare."""
    return TfidfVectorizer(analyzer=words.terms, sublinear_tf=True, min_df=2 if size >= 50 else 1, dtype=np.float32)
