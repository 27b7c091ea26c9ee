"""Scores are those of scikit-learn, intervals cover, and nobody is guessed by a model that saw the post."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from sleuth.study.classify.calibration import calibration
from sleuth.study.classify.choose import TooFew
from sleuth.study.classify.evaluate import HeldOut, cross_validate, evaluate


class Memory:
    """Knows the texts it was given and nothing else."""

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Memory:
        self.known = dict(zip(texts, labels, strict=True))
        self.classes_ = np.unique(labels)
        return self

    def predict_proba(self, texts: Sequence[str]) -> Any:
        assert not set(texts) & set(self.known), "a post was guessed by a model that had seen it"
        return np.tile([0.6, 0.4], (len(texts), 1))

    def predict(self, texts: Sequence[str]) -> Any:
        return self.classes_[self.predict_proba(texts).argmax(axis=1)]


def _held(truth: Any, guesses: Any, classes: int = 3, weights: Any = None) -> HeldOut:
    guesses = np.atleast_2d(guesses)
    names = tuple("abcdefg"[:classes])
    return HeldOut(names, truth, np.eye(classes)[guesses], np.ones(len(truth)) if weights is None else weights)


def _noisy(random: Any, posts: int, right: float = 0.7, classes: int = 3) -> tuple[Any, Any]:
    truth = random.integers(classes, size=posts)
    return truth, np.where(random.random(posts) < right, truth, random.integers(classes, size=posts))


def test_every_post_is_guessed_once_a_repeat_and_never_by_a_model_that_saw_it() -> None:
    texts = [f"text {number}" for number in range(40)]
    held = cross_validate(Memory, texts, ["a"] * 20 + ["b"] * 20, folds=4, repeats=2)
    assert held.probabilities.shape == (2, 40, 2)
    assert held.probabilities.sum(axis=2) == pytest.approx(np.ones((2, 40)))


def test_scores_are_those_of_scikit_learn() -> None:
    truth, guess = _noisy(np.random.default_rng(1), 200)
    found = evaluate(_held(truth, guess), resamples=100)
    assert found.accuracy.value == pytest.approx(accuracy_score(truth, guess))
    assert found.macro_f1.value == pytest.approx(f1_score(truth, guess, average="macro"))
    assert (found.matrix == confusion_matrix(truth, guess)).all()
    majority = np.full_like(truth, Counter(truth.tolist()).most_common(1)[0][0])
    assert found.majority_accuracy == pytest.approx(accuracy_score(truth, majority))
    assert found.majority_macro_f1 == pytest.approx(f1_score(truth, majority, average="macro", zero_division=0))


def test_repeats_are_averaged_and_each_is_told() -> None:
    random = np.random.default_rng(2)
    truth, one = _noisy(random, 100)
    found = evaluate(_held(truth, np.stack([one, truth])), resamples=100)
    assert found.by_repeat[1] == 1.0
    assert found.macro_f1.value == pytest.approx((f1_score(truth, one, average="macro") + 1) / 2)


def test_a_post_that_stands_for_two_counts_twice() -> None:
    truth, guess = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    found = evaluate(_held(truth, guess, 2, np.array([2.0, 1, 1, 1])), resamples=100)
    assert found.accuracy.value == pytest.approx(4 / 5)


def test_the_interval_holds_the_true_accuracy_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    truly = 0.7 + 0.3 / 3
    intervals = [evaluate(_held(*_noisy(random, 150)), resamples=300).accuracy for _ in range(100)]
    covered = sum(interval.low <= truly <= interval.high for interval in intervals)
    assert 87 <= covered <= 100


def test_calibration_sees_a_model_that_is_too_sure_and_one_that_is_not() -> None:
    random = np.random.default_rng(4)
    truth = random.integers(2, size=5000)
    right = random.random(5000) < 0.7
    guess = np.where(right, truth, 1 - truth)
    honest, boastful = np.full((1, 5000, 2), 0.3), np.full((1, 5000, 2), 0.05)
    honest[0, np.arange(5000), guess] = 0.7
    boastful[0, np.arange(5000), guess] = 0.95
    assert calibration(honest, truth, np.ones(5000)).error < 0.03
    too_sure = calibration(boastful, truth, np.ones(5000))
    assert too_sure.error == pytest.approx(0.25, abs=0.03)
    assert [band.low for band in too_sure.bands] == [0.9]
    assert too_sure.bands[0].posts == 5000


def test_a_label_with_fewer_posts_than_folds_is_named() -> None:
    with pytest.raises(TooFew, match="'b' has 2 of the labelled posts, fewer than the 5 folds"):
        cross_validate(Memory, list("cdefghij"), ["a"] * 6 + ["b"] * 2)
