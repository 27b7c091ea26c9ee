"""Trains the model of `sleuth ask`: a logistic regression on terms, small enough to ship as numbers."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from sleuth import words

Array = Any

# Terms of fewer posts than this could give a post away, and teach nothing.
FEWEST_POSTS = 6
FEWEST_POSTS_OF_LETTERS = 20
MOST_TERMS = 40_000
FREEDOM = 8.0
_LARGEST_STEP = 127


class Terms:
    """The terms of a corpus and how rare they are; no labels are needed for that."""

    def __init__(self, corpus: Sequence[str]) -> None:
        counter = TfidfVectorizer(analyzer=words.terms, min_df=FEWEST_POSTS, dtype=np.float32).fit(corpus)
        names, rarity = counter.get_feature_names_out(), counter.idf_
        # idf = 1 + ln((1 + posts) / (1 + posts with the term))
        posts = (1 + len(corpus)) / np.exp(rarity - 1) - 1
        letters = np.array([name.startswith("~") for name in names])
        kept = np.flatnonzero(~letters | (posts >= FEWEST_POSTS_OF_LETTERS))
        self.names, self.rarity = names[kept], rarity[kept]
        self._vectorizer = TfidfVectorizer(
            analyzer=words.terms,
            sublinear_tf=True,
            norm=None,
            vocabulary={name: place for place, name in enumerate(self.names)},
            dtype=np.float32,
        )
        self._vectorizer.idf_ = self.rarity

    def weigh(self, texts: Sequence[str]) -> Array:
        """A row a text; rows are not brought to one length yet, since terms may still be left out."""
        return self._vectorizer.transform(texts).tocsr()


class Student:
    """A row of weights for each kind, for the terms that tell the kinds apart best."""

    def fit(self, weighed: Array, truth: Array) -> Student:
        self.places = np.arange(weighed.shape[1])
        self._fit(weighed, truth)
        spread = np.asarray(weighed.max(axis=0).todense()).ravel()
        self.places = np.sort(np.argsort(-np.abs(self.weights).max(axis=0) * spread)[:MOST_TERMS])
        self._fit(weighed, truth)
        return self

    def scores(self, weighed: Array) -> Array:
        return np.asarray(normalize(weighed[:, self.places]) @ self.weights.T) + self.bias

    def numbers(self, terms: Terms, sharpness: float) -> dict[str, Any]:
        """What `model.json` holds: every weight in one byte."""
        rarity = terms.rarity[self.places]
        rarity_step = float(rarity.max() / 255)
        steps = np.abs(self.weights).max(axis=1) / _LARGEST_STEP
        quantised = np.round(self.weights / steps[:, None]).astype(np.int8).T
        return {
            "schema": 1,
            "kinds": [str(kind) for kind in self.kinds],
            "bias": [round(float(bias * sharpness), 6) for bias in self.bias],
            "steps": [float(f"{step * sharpness:.6g}") for step in steps],
            "rarity_step": float(f"{rarity_step:.6g}"),
            "terms": "\n".join(terms.names[self.places]),
            "rarity": base64.b64encode(np.round(rarity / rarity_step).astype(np.uint8).tobytes()).decode(),
            "weights": base64.b64encode(np.ascontiguousarray(quantised).tobytes()).decode(),
        }

    def _fit(self, weighed: Array, truth: Array) -> None:
        self.kinds, number, counts = np.unique(truth, return_inverse=True, return_counts=True)
        # Half-way between counting posts and counting kinds alike: rare kinds are guessed, and not too often.
        weights = (counts.mean() / counts)[number] ** 0.5
        model = LogisticRegression(C=FREEDOM, tol=1e-3, max_iter=200)
        model.fit(normalize(weighed[:, self.places]), truth, sample_weight=weights)
        self.weights, self.bias = model.coef_, model.intercept_
