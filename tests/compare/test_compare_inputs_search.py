"""The search makes the disagreement larger, within its limits, and the same way each time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sleuth.compare.inputs import Limit, Sample, search
from sleuth.compare.values import Batch, Input

FLOATS = Sample("random", (np.random.default_rng(0).standard_normal((8, 5)).astype(np.float32),))
IDS = Sample("random", (np.random.default_rng(0).integers(0, 50, (8, 6)),))
INPUTS = (Input("ids", (8, 6), "int64"),)
LIMITS = {"ids": Limit(0, 49)}


def far_from_three(batch: Batch) -> float:
    return -float(np.abs(batch[0] - 3.0).min(0).sum())


def many_sevens(batch: Batch) -> float:
    return float((batch[0] == 7).sum())


def test_it_climbs_over_floats() -> None:
    worst = search(far_from_three, FLOATS, rounds=200)
    assert far_from_three(worst.batch) > far_from_three(FLOATS.batch) / 4
    assert worst.label == "worst found from random"
    assert worst.batch[0].dtype == np.float32


def test_it_climbs_over_ids_and_stays_in_the_vocabulary() -> None:
    worst = search(many_sevens, IDS, INPUTS, LIMITS, rounds=200)
    assert many_sevens(worst.batch) >= many_sevens(IDS.batch) + 5
    assert worst.batch[0].min() >= 0
    assert worst.batch[0].max() <= 49
    assert worst.batch[0].dtype == IDS.batch[0].dtype


def test_the_same_seed_finds_the_same_and_another_seed_another() -> None:
    first, again, other = (search(far_from_three, FLOATS, seed=seed, rounds=30) for seed in (1, 1, 2))
    assert np.array_equal(first.batch[0], again.batch[0])
    assert not np.array_equal(first.batch[0], other.batch[0])


def test_it_asks_no_more_than_its_rounds() -> None:
    asked: list[Batch] = []

    def score(batch: Batch) -> float:
        asked.append(batch)
        return 0.0

    assert search(score, FLOATS, rounds=9) is FLOATS
    assert len(asked) == 10


def test_floats_do_not_run_away() -> None:
    worst = search(lambda batch: float(np.abs(batch[0]).max()), FLOATS, rounds=300)
    assert np.abs(worst.batch[0]).max() <= 8 * np.abs(FLOATS.batch[0]).max()


def test_what_cannot_be_judged_is_passed_over() -> None:
    calls = iter(range(1000))

    def score(batch: Batch) -> float:
        place = next(calls)
        if place % 3 == 1:
            raise RuntimeError("rejected")
        return math.nan if place % 3 == 2 else float(place)

    assert search(score, FLOATS, rounds=12).label == "worst found from random"


def test_an_infinite_disagreement_ends_it() -> None:
    asked: list[Batch] = []

    def score(batch: Batch) -> float:
        asked.append(batch)
        return math.inf if len(asked) == 3 else 0.0

    search(score, FLOATS, rounds=50)
    assert len(asked) == 3


def test_time_bounds_it_too() -> None:
    assert search(far_from_three, FLOATS, rounds=10**9, seconds=0.0) is FLOATS


@pytest.mark.parametrize("kind", ["mask", "whole numbers"])
def test_masks_and_counts_are_left_alone(kind: str) -> None:
    worst = search(many_sevens, IDS, INPUTS, {"ids": Limit(0, 49, kind)}, rounds=20)
    assert worst is IDS
