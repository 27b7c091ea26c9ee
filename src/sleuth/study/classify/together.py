"""The two views of a text together: tf-idf and MiniLM apart, then side by side in one classifier, and their mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack

from sleuth.study.classify.choose import SVMS, fit_best
from sleuth.study.classify.linear import tf_idf
from sleuth.study.classify.minilm import CANDIDATES, Embedder

Array = Any


class BothModel:
    """The mean of calibrated probabilities. The classifier on both kinds of feature side by side may be left out."""

    def __init__(
        self, embed: Callable[[Sequence[str]], Array] | None = None, seed: int = 0, side_by_side: bool = True
    ) -> None:
        self.embed = embed or Embedder()
        self.seed = seed
        self.side_by_side = side_by_side

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> BothModel:
        truth = np.asarray(labels)
        self.vectorizer_ = tf_idf(len(texts))
        terms, meaning = self.vectorizer_.fit_transform(texts), self.embed(texts)
        self.linear_ = fit_best(terms, truth, SVMS, self.seed)
        self.minilm_ = fit_best(meaning, truth, CANDIDATES, self.seed)
        self.joint_ = fit_best(_side_by_side(terms, meaning), truth, SVMS, self.seed) if self.side_by_side else None
        self.classes_ = self.linear_.classes
        return self

    def predict_proba(self, texts: Sequence[str]) -> Array:
        terms, meaning = self.vectorizer_.transform(texts), self.embed(texts)
        votes = [self.linear_.probabilities(terms), self.minilm_.probabilities(meaning)]
        if self.joint_ is not None:
            votes.append(self.joint_.probabilities(_side_by_side(terms, meaning)))
        return np.mean(votes, axis=0)

    def predict(self, texts: Sequence[str]) -> Array:
        return self.classes_[self.predict_proba(texts).argmax(axis=1)]


def _side_by_side(terms: Array, meaning: Array) -> Array:
    """Rows of both are of unit length: neither outweighs the other."""
    return hstack([terms, csr_matrix(meaning)]).tocsr()
