"""The metric of the published code, and what the printed table says when it is read with it."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_posts import dealt, made_up

from sleuth.study.classify.choose import TooFew
from sleuth.study.classify.published import PRINTED, as_published, capped, readings


def test_each_kind_of_error_counts_once_however_often_it_is_made() -> None:
    found = capped(np.array([[10, 90], [1, 5]]))
    assert (found.right, found.errors) == (15, 2)
    assert found.precision == pytest.approx((10 / 11 + 5 / 6) / 2)
    assert found.recall == pytest.approx((10 / 11 + 5 / 6) / 2)


def test_guessing_always_the_same_looks_precise_under_it() -> None:
    always = np.zeros((7, 7), dtype=int)
    always[:, 0] = [108, 78, 27, 38, 28, 45, 28]
    found = capped(always)
    assert found.precision == pytest.approx(108 / 114)
    assert found.right / always.sum() < 0.31


def test_the_printed_means_are_those_of_the_printed_lines() -> None:
    assert np.mean([line.precision for line in PRINTED]) == pytest.approx(0.796, abs=0.0005)
    assert np.mean([line.recall for line in PRINTED]) == pytest.approx(0.803, abs=0.0005)


def test_the_printed_table_has_one_reading_with_capped_cells_and_six_lines_have_none_without() -> None:
    (reading,) = readings()
    assert sum(line.right for line in reading) == 138
    assert sum(line.false_positives for line in reading) == sum(line.false_negatives for line in reading) == 31
    assert [line.fits for line in reading].count(False) == 6


def test_the_published_protocol_flatters_the_same_guesses() -> None:
    texts, labels = made_up(dealt(crash=80, install=40, slow=40), own=1, astray=0.3)
    found = as_published(texts, labels)
    assert found.tested == 64
    assert found.capped.right == round(found.accuracy * found.tested)
    assert found.capped.errors <= 6
    assert min(found.capped.precision, found.capped.recall) > found.accuracy
    assert found.majority_accuracy == pytest.approx(0.5)
    assert found.majority_capped.precision > 0.9


def test_a_label_with_a_single_post_cannot_be_split() -> None:
    with pytest.raises(TooFew):
        as_published(["a", "b", "c"], ["x", "x", "y"])
