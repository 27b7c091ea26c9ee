"""Counting guesses is biased; corrected shares are not, and their intervals hold the truth as often as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.study.classify.evaluate import HeldOut
from sleuth.study.classify.shares import Share, Way, shares

# How a poor classifier guesses: rows are true classes.
GUESSED_AS = np.array([[0.85, 0.1, 0.05], [0.3, 0.6, 0.1], [0.25, 0.05, 0.7]])
LABELLED = np.array([0.4, 0.35, 0.25])
SHIFTED = np.array([0.2, 0.5, 0.3])
RUNS = 100


def _guess(truth: Any, random: Any) -> Any:
    return (random.random(len(truth))[:, None] > GUESSED_AS[truth].cumsum(axis=1)).sum(axis=1)


def _held(truth: Any, guess: Any, weights: Any = None) -> HeldOut:
    return HeldOut(("a", "b", "c"), truth, np.eye(3)[guess][None], np.ones(len(truth)) if weights is None else weights)


def _simulated(way: Way, corpus: Any, seed: int) -> list[tuple[Share, ...]]:
    """Many studies: each labels 400 posts and lets the same classifier guess 5,000 others."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(RUNS):
        truth = random.choice(3, size=400, p=LABELLED)
        posts = random.choice(3, size=5000, p=corpus)
        guessed = np.bincount(_guess(posts, random), minlength=3)
        found.append(shares(_held(truth, _guess(truth, random)), guessed, way=way, resamples=200))
    return found


@pytest.mark.parametrize(("way", "corpus"), [("shifted", SHIFTED), ("drawn", LABELLED)])
def test_the_count_is_biased_the_corrected_share_is_not_and_its_interval_covers(way: Way, corpus: Any) -> None:
    found = _simulated(way, corpus, seed=1)
    counted = np.mean([[share.counted for share in run] for run in found], axis=0)
    corrected = np.mean([[share.corrected for share in run] for run in found], axis=0)
    assert np.abs(counted - corpus).max() > 0.08
    assert np.abs(corrected - corpus).max() < 0.02
    for number in range(3):
        covered = sum(run[number].low <= corpus[number] <= run[number].high for run in found)
        assert covered / RUNS >= 0.87, f"class {number} is covered {covered} times of {RUNS}"


def test_a_class_of_few_posts_all_guessed_rightly_still_has_an_interval() -> None:
    truth = np.repeat([0, 1, 2], [60, 25, 15])
    found = shares(_held(truth, truth), [2000, 500, 500], way="shifted")
    assert all(share.high - share.low > 0.02 for share in found)


def test_an_interval_is_no_wider_than_it_must_be() -> None:
    found = _simulated("drawn", LABELLED, seed=2)
    widths = [share.high - share.low for run in found for share in run]
    assert max(widths) < 0.15


def test_where_classes_have_shifted_the_way_for_a_random_sample_is_wrong() -> None:
    found = _simulated("drawn", SHIFTED, seed=3)
    corrected = np.mean([[share.corrected for share in run] for run in found], axis=0)
    assert np.abs(corrected - SHIFTED).max() > 0.04


def test_the_weights_of_a_stratified_sample_are_respected() -> None:
    """Half of the labels come from a tenth of the corpus, where class c is common."""
    random = np.random.default_rng(4)
    common, rare = np.array([0.1, 0.1, 0.8]), np.array([0.6, 0.35, 0.05])
    truly = 0.1 * common + 0.9 * rare
    truth = np.concatenate([random.choice(3, size=1500, p=common), random.choice(3, size=1500, p=rare)])
    weights, strata = np.repeat([0.1, 0.9], 1500) / 1500 * 20_000, np.repeat(["x", "y"], 1500)
    guessed = np.bincount(_guess(random.choice(3, size=20_000, p=truly), random), minlength=3)
    held = _held(truth, _guess(truth, random), weights)
    found = shares(held, guessed, way="drawn", strata=strata)
    assert [share.corrected for share in found] == pytest.approx(truly, abs=0.03)
    assert [share.labelled for share in found] == pytest.approx(truly, abs=0.03)
    careless = shares(_held(truth, held.guesses[0]), guessed, way="drawn")
    assert abs(careless[2].corrected - truly[2]) > 0.04


def test_strata_make_the_interval_narrower() -> None:
    random = np.random.default_rng(5)
    truth = np.repeat([0, 1], 200)
    held = _held(truth, np.where(random.random(400) < 0.5, truth, 1 - truth))
    with_strata = shares(held, [500, 500, 0], way="drawn", strata=np.repeat(["x", "y"], 200))
    without = shares(held, [500, 500, 0], way="drawn")
    assert with_strata[0].high - with_strata[0].low < without[0].high - without[0].low


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=30),
    st.tuples(*[st.integers(0, 50)] * 3).filter(any),
    st.sampled_from(["drawn", "shifted"]),
)
def test_whatever_was_guessed_shares_are_shares(pairs: Any, guessed: Any, way: Way) -> None:
    truth = np.array([0, 1, 2, *(pair[0] for pair in pairs)])
    guess = np.array([0, 1, 2, *(pair[1] for pair in pairs)])
    found = shares(_held(truth, guess), guessed, way=way, resamples=100)
    assert sum(share.corrected for share in found) == pytest.approx(1)
    for share in found:
        assert -1e-9 <= share.low <= share.high <= 1 + 1e-9
        assert share.corrected >= -1e-9


def test_a_perfect_classifier_needs_no_correction() -> None:
    truth = np.repeat([0, 1, 2], 50)
    for way in ("drawn", "shifted"):
        found = shares(_held(truth, truth), [10, 20, 70], way=way)
        assert [share.corrected for share in found] == pytest.approx([0.1, 0.2, 0.7], abs=1e-6)


def test_an_empty_corpus_has_no_shares() -> None:
    with pytest.raises(ValueError, match="no posts"):
        shares(_held(np.array([0, 1, 2]), np.array([0, 1, 2])), [0, 0, 0])
