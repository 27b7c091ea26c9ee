"""Numbers as they are written, beside each other and beside a paper's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.study.report import beside
from sleuth.study.report.content import Tally
from sleuth.study.report.numbers import number, percent, places_for, said, signed, to_places
from sleuth.study.result import Comparison


@pytest.mark.parametrize(
    ("value", "column", "written"),
    [
        (1125, "posts", "1,125"),
        (2018, "year", "2018"),
        (46.8554, "percent", "46.9"),
        (46.8554, "percent accepted", "46.9"),
        (0.0765, "median days", "0.0765"),
        (614.5, "median views", "614.5"),
        (-3, "score", "−3"),
        (3e-30, "p", "3.00e-30"),
        (None, "x", "–"),
        (math.nan, "x", "–"),
        (math.inf, "x", "∞"),
        (True, "x", "yes"),
        (["a", "b"], "tags", "a, b"),
        ("text", "x", "text"),
    ],
)
def test_a_cell_is_written_for_its_column(value: object, column: str, written: str) -> None:
    assert said(value, column) == written


@pytest.mark.parametrize(
    ("values", "places"),
    [([1, 2, 3], 0), ([475, 614.5, 1047], 1), ([0.0765, 0.3269, 0.1493], 3), ([0.1, 0.25], 2), ([], 0), ([None, 0], 0)],
)
def test_a_column_has_one_number_of_digits(values: list[float], places: int) -> None:
    assert places_for(values) == places


@given(st.floats(-1e12, 1e12), st.integers(0, 4))
def test_a_written_number_is_the_number(value: float, places: int) -> None:
    def read(text: str) -> float:
        return float(text.replace(",", "").replace("−", "-"))

    assert read(number(value)) == pytest.approx(value, rel=0.006, abs=1e-300)
    assert abs(read(to_places(value, places)) - value) <= 0.5 * 10**-places + 1e-9 * abs(value)
    assert value == 0 or read(to_places(value, places)) != 0


def test_a_difference_has_its_sign() -> None:
    assert [signed(value) for value in (4, -4, 0, 0.25)] == ["+4", "−4", "0", "+0.250"]


def test_less_than_a_thousandth_is_not_nothing() -> None:
    assert [percent(1, 10_000), percent(0, 5), percent(1, 3), percent(1, 0)] == ["< 0.1 %", "0.0 %", "33.3 %", "–"]


@pytest.mark.parametrize(
    ("comparison", "written"),
    [
        (Comparison("w", 614.5, 639, "s"), ("614.5", "639", "−24.5")),
        (Comparison("w", 46.8554, 46.9, "s", within=0.05), ("46.86", "46.9", "−0.04")),
        (Comparison("w", 0.1 + 0.2, 0.3, "s"), ("0.3", "0.3", "0")),
        (Comparison("w", 70.0, 66, "s", bound="above"), ("70", "> 66", "+4")),
        (Comparison("w", None, 66, "s"), ("–", "66", "–")),
    ],
)
def test_ours_and_the_papers_number_have_digits_that_compare(comparison: Comparison, written: tuple[str, ...]) -> None:
    assert (beside.ours(comparison), beside.published(comparison), beside.difference(comparison)) == written


def test_how_comparisons_came_out_is_told_in_one_line() -> None:
    assert beside.told(Tally(12, 1, 2)) == "12 of 15 as published, 1 differs, 2 not computed"
    assert beside.told(Tally(3, 0, 0)) == "3 of 3 as published"
