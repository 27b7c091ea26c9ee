"""What a difference means for the task, where that can be said."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth.compare.metrics import all_measured, class_axis, measured


def test_agreement_is_the_share_of_positions_with_the_same_choice() -> None:
    truth = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.4], [0.0, 5.0]])
    answer = np.array([[0.2, 0.8], [0.1, 0.2], [0.3, 0.4], [0.0, 4.0]], dtype=np.float32)
    found = measured(truth, answer)
    assert found is not None
    assert (found.positions, found.argmax, found.top5) == (4, 0.75, None)
    assert found.largest_change == pytest.approx(1.0)
    assert found.relative_change == pytest.approx(0.2)


def test_the_first_five_are_compared_as_a_set() -> None:
    truth = np.arange(12.0)[None]
    answer = truth.copy()
    answer[0, [7, 11]] = answer[0, [11, 7]]  # the first and the fifth change places
    found = measured(truth, answer)
    assert found is not None
    assert (found.argmax, found.top5) == (0.0, 1.0)
    answer[0, 0] = 50.0
    found = measured(truth, answer)
    assert found is not None
    assert found.top5 == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((4,), None), ((4, 1), None), ((4, 10), 1), ((2, 7, 50), 2), ((2, 21, 8, 8), 1), ((2, 3, 8, 8), None)],
)
def test_classes_stand_last_or_for_pixels_second(shape: tuple[int, ...], axis: int | None) -> None:
    assert class_axis(np.zeros(shape)) == axis


def test_cosine_is_of_the_whole_and_has_a_sign() -> None:
    truth = np.array([[1.0, 2.0], [3.0, 4.0]])
    opposite, same = measured(truth, -truth), measured(truth, 2 * truth)
    assert opposite is not None
    assert same is not None
    assert opposite.cosine == pytest.approx(-1.0)
    assert same.cosine == pytest.approx(1.0)


def test_infinities_that_agree_are_no_change_and_others_are() -> None:
    truth = np.array([[-np.inf, 1.0, 2.0]])
    agreeing, broken = measured(truth, truth), measured(truth, np.array([[np.nan, 1.0, 2.0]]))
    assert agreeing is not None
    assert broken is not None
    assert agreeing.largest_change == 0.0
    assert agreeing.cosine is None
    assert not broken.largest_change < np.inf


def test_whole_numbers_and_other_shapes_have_no_metrics() -> None:
    assert measured(np.array([1, 2, 3]), np.array([1, 2, 3])) is None
    assert measured(np.zeros((2, 3)), np.zeros((3, 2))) is None
    assert measured(np.zeros((0, 3)), np.zeros((0, 3))) is None
    zeros = all_measured([np.zeros((2, 3)), np.array([1])], [np.zeros((2, 3)), np.array([1])])
    assert zeros[0] is not None
    assert (zeros[0].relative_change, zeros[0].cosine, zeros[1]) == (0.0, None, None)
