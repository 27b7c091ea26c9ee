"""Zhang et al.'s keyword model, as their paper gives it: a word's share in a category, and α more for picked words.

    θ(c, w)  = tf(w in c) / Σ tf(w' in c)
    score(c) = Σ over the words of a post: (θ(c, w) + α if w was picked for c) · tf(w in the post)

The paper's people picked words by hand among the 200 most frequent of a category. Where nobody has picked (`picked`
is None) a rule picks: those of the 200 that are at least twice as common in this category as in any other. The words
that every text has ("the", "is") are left out first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.model_selection import StratifiedKFold

from sleuth import words

TOP = 200
STEP = 0.01
ALPHAS = tuple(round(STEP * step, 2) for step in range(101))
TWICE = 2.0
# Below this share of a category's words a ratio between categories is chance.
RARE = 5e-4
_INNER_FOLDS = 3

Array = Any
Texts = Sequence[str]


class KeywordModel:
    """`norm="sum"` is the paper's θ; `"l2"` divides by the length of the category's vector, as its published code does.

    `alpha=None` searches it in steps of 0.01 on an inner split of what `fit` is given, by macro-F1."""

    def __init__(
        self,
        alpha: float | None = None,
        picked: Mapping[str, Sequence[str]] | None = None,
        norm: Literal["sum", "l2"] = "sum",
        seed: int = 0,
    ) -> None:
        self.alpha = alpha
        self.picked = picked
        self.norm = norm
        self.seed = seed

    def fit(self, texts: Texts, labels: Sequence[str]) -> KeywordModel:
        truth = np.asarray(labels)
        counts = [_count(text) for text in texts]
        self.classes_ = np.unique(truth)
        self.alpha_ = self._search(counts, truth) if self.alpha is None else self.alpha
        self._learn(counts, truth)
        return self

    def scores(self, texts: Texts) -> Array:
        """The paper's score of every category, a row a text."""
        shares, picks = self.parts(texts)
        return shares + self.alpha_ * picks

    def predict_proba(self, texts: Texts) -> Array:
        """Each category's part of the sum of the scores: an order, and no more than an order."""
        scores = self.scores(texts)
        total = scores.sum(axis=1, keepdims=True)
        # A text of unknown words says nothing; guess by size.
        return np.where(total > 0, scores / np.where(total > 0, total, 1), self.prior_)

    def predict(self, texts: Texts) -> Array:
        return self.classes_[self.predict_proba(texts).argmax(axis=1)]

    def parts(self, texts: Texts) -> tuple[Array, Array]:
        """The two sums of the score, Σ θ·tf and Σ tf of picked words: a search over α computes them once."""
        return self._parts([_count(text) for text in texts])

    def _learn(self, counts: Sequence[Counter[str]], labels: Array) -> None:
        self.prior_ = np.array([(labels == label).mean() for label in self.classes_])
        by_class = {str(label): Counter[str]() for label in self.classes_}
        for count, label in zip(counts, labels, strict=True):
            by_class[str(label)].update(count)
        self.theta_ = {label: _normalised(count, self.norm) for label, count in by_class.items()}
        self.picked_ = {label: self._picks(label, count) for label, count in by_class.items()}

    def _picks(self, label: str, count: Counter[str]) -> frozenset[str]:
        top = [word for word, _ in count.most_common(TOP)]
        if self.picked is not None:
            return frozenset(top) & frozenset(self.picked.get(label, ()))
        return frozenset(word for word in top if self._stands_out(label, word))

    def _stands_out(self, label: str, word: str) -> bool:
        mine = self.theta_[label][word]
        elsewhere = max((theta.get(word, 0.0) for other, theta in self.theta_.items() if other != label), default=0.0)
        return mine >= RARE and mine >= TWICE * elsewhere

    def _parts(self, counts: Sequence[Counter[str]]) -> tuple[Array, Array]:
        shares = np.zeros((len(counts), len(self.classes_)))
        picks = np.zeros_like(shares)
        for row, count in enumerate(counts):
            for column, label in enumerate(self.classes_):
                theta, picked = self.theta_[str(label)], self.picked_[str(label)]
                shares[row, column] = sum(theta.get(word, 0.0) * times for word, times in count.items())
                picks[row, column] = sum(times for word, times in count.items() if word in picked)
        return shares, picks

    def _search(self, counts: Sequence[Counter[str]], labels: Array) -> float:
        """The α with the best macro-F1 on folds held out of what there is to learn from."""
        folds = min(_INNER_FOLDS, min(Counter(labels.tolist()).values()))
        if folds < 2:
            return 0.0
        truth, shares, picks = [], [], []
        for learn, held in StratifiedKFold(folds, shuffle=True, random_state=self.seed).split(labels, labels):
            inner = KeywordModel(0.0, self.picked, self.norm)
            inner.classes_ = self.classes_
            inner._learn([counts[i] for i in learn], labels[learn])
            of_fold = inner._parts([counts[i] for i in held])
            truth.append(np.searchsorted(self.classes_, labels[held]))
            shares.append(of_fold[0])
            picks.append(of_fold[1])
        return best_alpha(np.concatenate(truth), np.vstack(shares), np.vstack(picks))


def best_alpha(truth: Array, shares: Array, picks: Array) -> float:
    """The smallest α of the best macro-F1; `truth` holds the columns of the true categories."""
    scores = [_macro_f1(truth, (shares + alpha * picks).argmax(axis=1), shares.shape[1]) for alpha in ALPHAS]
    return ALPHAS[int(np.argmax(scores))]


def _macro_f1(truth: Array, guess: Array, size: int) -> float:
    hits = np.bincount(truth[truth == guess], minlength=size)
    both = np.bincount(truth, minlength=size) + np.bincount(guess, minlength=size)
    return float(np.mean(2 * hits[both > 0] / both[both > 0]))


def _count(text: str) -> Counter[str]:
    return Counter(word for word in words.words(text) if len(word) > 1 and word not in ENGLISH_STOP_WORDS)


def _normalised(count: Counter[str], norm: str) -> dict[str, float]:
    total = float(sum(count.values())) if norm == "sum" else float(sum(n * n for n in count.values())) ** 0.5
    return {word: times / total for word, times in count.items()} if total else {}
