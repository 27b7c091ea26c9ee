"""Sample sizes are those of the published tables, and are dealt out so that they add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.study.label import sizes

POPULATIONS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(0, 5000), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("population", "size"),
    # Krejcie and Morgan's table of 1970, and the how-to questions of study L.
    [(10, 10), (100, 80), (500, 217), (1000, 278), (5000, 357), (10_000, 370), (14_203, 374), (10**9, 384)],
)
def test_the_size_for_95_percent_and_5_percent_is_the_published_one(population: int, size: int) -> None:
    assert sizes.sample_size(population) == size


def test_a_surer_or_closer_answer_needs_more() -> None:
    assert sizes.sample_size(10**9, confidence=0.99) == 663
    assert sizes.sample_size(10**9, margin=0.03) == 1067


@given(st.integers(1, 10**7), st.floats(0.5, 0.999), st.floats(0.005, 0.5))
def test_the_size_gives_the_margin_that_was_asked_for(population: int, confidence: float, margin: float) -> None:
    size = sizes.sample_size(population, confidence, margin)
    assert 1 <= size <= population
    # To within the rounding to a whole post.
    assert size == population or sizes.margin_of(size + 1, population, confidence) <= margin + 1e-9


def test_nothing_to_draw_from_gives_nothing() -> None:
    assert sizes.sample_size(0) == 0


@pytest.mark.parametrize(("confidence", "margin"), [(1, 0.05), (95, 0.05), (0.95, 0), (0.95, 5)])
def test_a_confidence_or_margin_that_is_no_share_is_refused(confidence: float, margin: float) -> None:
    with pytest.raises(sizes.BadSize, match="lies between 0 and 1"):
        sizes.sample_size(1000, confidence, margin)


@given(st.integers(0, 8000), POPULATIONS)
def test_every_way_of_dealing_draws_what_was_asked_for_and_no_more_than_there_is(
    size: int, populations: dict[str, int]
) -> None:
    for deal in (sizes.proportional, sizes.equal):
        dealt = deal(size, populations)
        assert sum(dealt.values()) == min(size, sum(populations.values()))
        assert all(0 <= dealt[name] <= populations[name] for name in populations)


@given(st.integers(1, 8000), POPULATIONS)
def test_shares_in_proportion_are_off_by_less_than_one_but_for_the_strata_that_would_go_empty(
    size: int, populations: dict[str, int]
) -> None:
    dealt = sizes.proportional(size, populations)
    total = sum(populations.values())
    size = min(size, total)
    strata = [name for name, count in populations.items() if count]
    if size >= len(strata):
        assert all(dealt[name] >= 1 for name in strata)
    elif total:
        assert all(abs(dealt[name] - size * populations[name] / total) < 1 for name in populations)


@given(st.integers(1, 8000), POPULATIONS)
def test_equal_shares_differ_by_one_at_most_among_strata_that_are_large_enough(
    size: int, populations: dict[str, int]
) -> None:
    dealt = sizes.equal(size, populations)
    not_emptied = [dealt[name] for name in populations if dealt[name] < populations[name]]
    assert not not_emptied or max(dealt.values()) - min(not_emptied) <= 1


def test_sizes_that_were_given_are_checked() -> None:
    assert sizes.given({"a": 2}, {"a": 5, "b": 9}) == {"a": 2, "b": 0}
    with pytest.raises(sizes.BadSize, match="there is no stratum 'c'; there are a, b"):
        sizes.given({"c": 2}, {"a": 5, "b": 9})
    with pytest.raises(sizes.BadSize, match="has 5 posts, fewer than 6"):
        sizes.given({"a": 6}, {"a": 5, "b": 9})
