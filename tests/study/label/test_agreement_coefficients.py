"""The coefficients give the values printed in the literature, and those of another implementation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from sleuth.study.label.coefficients import (
    Bootstrap,
    CannotCompare,
    Unit,
    cohen,
    cohen_bootstrapped,
    fleiss,
    krippendorff,
    krippendorff_by_label,
    pairs_that_agree,
)

# Fleiss, Psychological Bulletin 1971, table 1: thirty patients, six psychiatrists each, five diagnoses.
FLEISS_1971 = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
# The ten subjects and fourteen raters of the usual worked example of Fleiss' kappa.
TEN_SUBJECTS = ["0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1"]
TEN_SUBJECTS += ["7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2", "6 5 2 1 0", "0 2 2 3 7"]


def _spread(counts: list[int]) -> list[int | None]:
    return [label for label, count in enumerate(counts) for _ in range(count)]


def _cells(table: list[list[int]]) -> list[Unit]:
    return [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


def _observers(*rows: str) -> list[Unit]:
    """One row a rater, one character a unit, a dot where the rater did not see it."""
    labels = sorted({label for row in rows for label in row} - {"."})
    return [[None if label == "." else labels.index(label) for label in unit] for unit in zip(*rows, strict=True)]


FLEISS_UNITS = [_spread([int(count) for count in row]) for row in FLEISS_1971.split()]


def test_cohen_1960_his_own_example() -> None:
    assert cohen(_cells([[88, 14, 18], [10, 40, 10], [2, 6, 12]])).value == pytest.approx(0.49, abs=0.005)


def test_cohens_kappa_and_its_error_of_the_hundred_diagnoses_of_fleiss_levin_and_paik() -> None:
    kappa = cohen(_cells([[75, 1, 4], [5, 4, 1], [0, 0, 10]]))
    assert kappa.value == pytest.approx(0.68, abs=0.005)
    assert kappa.low is not None
    assert kappa.high is not None
    assert (kappa.high - kappa.low) / 2 / 1.96 == pytest.approx(0.087, abs=0.001)


def test_fleiss_1971_his_own_example() -> None:
    assert fleiss(FLEISS_UNITS).value == pytest.approx(0.430, abs=0.0005)


@pytest.mark.parametrize(("diagnosis", "printed"), list(enumerate([0.245, 0.245, 0.520, 0.471, 0.566])))
def test_fleiss_1971_his_own_example_diagnosis_by_diagnosis(diagnosis: int, printed: float) -> None:
    units: list[Unit] = [[int(label == diagnosis) for label in unit] for unit in FLEISS_UNITS]
    assert fleiss(units).value == pytest.approx(printed, abs=0.0006)


def test_fleiss_kappa_of_the_usual_worked_example() -> None:
    units = [_spread([int(count) for count in row.split()]) for row in TEN_SUBJECTS]
    assert fleiss(units).value == pytest.approx(0.210, abs=0.0005)


@pytest.mark.parametrize(
    ("observers", "printed"),
    [
        # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): parts A, B and C.
        (("0100000010", "1110010000"), 0.095),
        (("aabbdcccedda", "babbbccceddd"), 0.692),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
        # The three coders of his textbook's example with much missing.
        ((".....34121133.3", "1.213343.......", "..21344.21133.4"), 0.691),
    ],
)
def test_krippendorffs_alpha_of_his_own_examples(observers: tuple[str, ...], printed: float) -> None:
    assert krippendorff(_observers(*observers)).value == pytest.approx(printed, abs=0.001)


_PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60)


@given(_PAIRS)
def test_cohens_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    ours = cohen(pairs).value
    if len({*first, *second}) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


@given(_PAIRS)
@settings(max_examples=30)
def test_both_intervals_of_cohens_kappa_hold_its_one_value(pairs: list[tuple[int, int]]) -> None:
    analytic, drawn = cohen(pairs), cohen_bootstrapped(pairs, Bootstrap(resamples=200))
    assert analytic.value == (drawn.value if drawn.value is None else pytest.approx(drawn.value))
    if analytic.value is not None:
        assert analytic.low is not None
        assert analytic.high is not None
        assert analytic.low <= analytic.value + 1e-12
        assert analytic.value <= analytic.high + 1e-12


def test_both_intervals_of_cohens_kappa_are_alike_for_a_large_sample() -> None:
    units = _cells([[88, 14, 18], [10, 40, 10], [2, 6, 12]]) * 3
    analytic, drawn = cohen(units), cohen_bootstrapped(units)
    assert (drawn.low, drawn.high) == (
        pytest.approx(analytic.low, abs=0.01),
        pytest.approx(analytic.high, abs=0.01),
    )


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=30), st.permutations([0, 1, 2])
)
def test_who_is_first_and_what_a_label_is_called_changes_nothing(units: list[list[int]], order: list[int]) -> None:
    renamed: list[Unit] = [[(3, 0, 2, 1)[unit[rater]] for rater in order] for unit in units]
    none = Bootstrap(resamples=0)
    for coefficient in (fleiss, krippendorff):
        before, after = coefficient(units, none).value, coefficient(renamed, none).value
        assert after == (before if before is None else pytest.approx(before))


def test_raters_who_always_agree_have_one_and_no_doubt() -> None:
    units: list[Unit] = [(0, 0), (1, 1), (2, 2), (0, 0)] * 5
    for estimate in (cohen(units), fleiss(units), krippendorff(units)):
        assert (estimate.value, estimate.low, estimate.high) == (1.0, 1.0, 1.0)


def test_one_label_for_everything_says_nothing_about_agreement() -> None:
    units: list[Unit] = [(0, 0)] * 8
    assert {cohen(units).value, fleiss(units).value, krippendorff(units).value} == {None}
    assert pairs_that_agree(units) == 1.0


def test_nothing_to_compare_is_no_value() -> None:
    for coefficient in (cohen, fleiss, krippendorff):
        assert coefficient([]).value is None
    assert cohen([(0, None), (None, 1)]).units == 0
    assert krippendorff([(0, None), (None, 1)]).units == 0


def test_fleiss_kappa_refuses_unequal_numbers_of_raters() -> None:
    with pytest.raises(CannotCompare, match="same number of raters"):
        fleiss([(0, 1, 1), (0, 1, None)])


def test_alpha_of_many_units_without_gaps_comes_close_to_fleiss_kappa() -> None:
    assert krippendorff(FLEISS_UNITS * 20).value == pytest.approx(fleiss(FLEISS_UNITS * 20).value, abs=0.001)


def test_the_same_seed_draws_the_same_interval_and_another_seed_another() -> None:
    first, again, other = (krippendorff(FLEISS_UNITS, Bootstrap(seed=seed, resamples=300)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    import numpy as np

    random = np.random.default_rng(5)
    true = krippendorff(_cells([[40, 10], [10, 40]]) * 100, Bootstrap(resamples=0)).value
    held = 0
    for trial in range(100):
        cells = random.choice(4, size=150, p=[0.4, 0.1, 0.1, 0.4])
        drawn = krippendorff([divmod(int(cell), 2) for cell in cells], Bootstrap(seed=trial, resamples=300))
        assert drawn.low is not None
        assert drawn.high is not None
        held += drawn.low <= true <= drawn.high
    assert held >= 87


def test_the_share_of_agreeing_pairs_counts_each_pair_once() -> None:
    assert pairs_that_agree([(0, 0, 1), (1, 1, None), (2, None, None)]) == pytest.approx(2 / 4)


def test_alpha_label_by_label_is_alpha_of_that_label_against_the_rest() -> None:
    units = _observers("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    bootstrap = Bootstrap(seed=3, resamples=200)
    for label, estimate in enumerate(krippendorff_by_label(units, bootstrap)):
        against: list[Unit] = [[None if said is None else int(said == label) for said in unit] for unit in units]
        alone = krippendorff(against, bootstrap)
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx((alone.value, alone.low, alone.high))
