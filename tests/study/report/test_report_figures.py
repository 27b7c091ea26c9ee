"""Figures: whatever the table holds, a well-formed picture or a reason, and the numbers in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_example import by_framework, crossed, distribution, evolution, grouped, related

from sleuth.study.report.content import Step
from sleuth.study.report.figures import NARROW, WIDE, CannotDraw, draw, in_words
from sleuth.study.report.figures.canvas import shortened, width_of, wrapped
from sleuth.study.report.figures.funnel import funnel
from sleuth.study.report.figures.heatmap import SHADES, shade
from sleuth.study.report.figures.picture import picture
from sleuth.study.report.figures.scale import are_worlds_apart, powers_scale, scale, tick_text
from sleuth.study.result import Figure, Result

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = (distribution, evolution, by_framework, grouped, crossed, related)
finite = st.floats(-1e12, 1e12)
cells = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.floats(), st.booleans(), st.text(max_size=8))
figures = st.builds(
    Figure,
    st.sampled_from(["bars", "stacked-bars", "lines", "heatmap", "scatter"]),
    st.sampled_from("abcd"),
    st.sampled_from("abc"),
    st.one_of(st.none(), st.sampled_from("abc")),
    st.one_of(st.none(), st.sampled_from("abc")),
)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(cells, cells, cells), max_size=12), figures, st.sampled_from([NARROW, WIDE]))
def test_any_table_is_drawn_well_or_refused_with_a_reason(
    rows: list[tuple[object, ...]], figure: Figure, width: float
) -> None:
    result = Result("any", "Any", ("a", "b", "c"), tuple(rows), figure)
    assert in_words(result)
    try:
        svg = draw(result, width)
    except CannotDraw:
        return
    root = ElementTree.fromstring(svg)
    assert float(root.attrib["width"]) == width
    assert "nan" not in svg.lower().replace("nan</", "") or any("nan" in str(row).lower() for row in rows)
    assert not re.search(r'(?:x|y|width|height|r|cx|cy)="(?:-?inf|nan)', svg)
    assert not re.search(r'(?:width|height)="-', svg)


@pytest.mark.parametrize("make", EXAMPLES)
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_every_figure_of_the_example_is_drawn_at_both_widths(make: Callable[[], Result], width: float) -> None:
    svg = draw(make(), width)
    assert ElementTree.fromstring(svg).attrib["aria-label"] == in_words(make())
    assert "fill=" not in svg
    assert "style=" not in svg


def test_a_figure_is_said_in_words() -> None:
    assert in_words(distribution()) == (
        "Bars: posts by phase. The highest is data-processing with 1,125, the lowest visualization with 111."
    )
    assert in_words(crossed()).startswith("Heatmap: bugs by type and root cause. The highest is ")


def test_a_heatmap_has_its_numbers_in_its_cells() -> None:
    result = crossed()
    numbers = [str(row[2]) for row in result.rows if row[2]]
    assert sorted(text for text in texts(draw(result)) if text.isdigit()) == sorted(numbers)
    assert sorted(text for text in texts(draw(result, NARROW)) if text.isdigit()) == sorted(numbers)


def test_bars_bear_their_numbers_and_their_names() -> None:
    found = texts(draw(distribution()))
    assert {"data-processing", "1,125", "visualization", "111"} <= set(found)


def test_a_bar_is_as_long_as_its_number() -> None:
    root = ElementTree.fromstring(draw(distribution()))
    lengths = [float(bar.attrib["width"]) for bar in root.iter(f"{SVG}rect")]
    assert [round(length / lengths[0], 2) for length in lengths] == [1.0, 0.57, 0.27, 0.1]


def test_bars_below_zero_go_the_other_way() -> None:
    result = Result("r", "R", ("a", "b"), (("up", 2), ("down", -1)), Figure("bars", "a", "b"))
    up, down = ElementTree.fromstring(draw(result)).iter(f"{SVG}rect")
    assert float(down.attrib["x"]) + float(down.attrib["width"]) == pytest.approx(float(up.attrib["x"]), abs=0.2)
    assert float(up.attrib["width"]) == pytest.approx(2 * float(down.attrib["width"]), abs=0.3)


def test_lines_that_nobody_could_follow_are_left_to_the_table() -> None:
    rows = tuple((year, f"series {at}", at) for year in (2015, 2016) for at in range(30))
    found = texts(draw(Result("r", "R", ("year", "name", "posts"), rows, Figure("lines", "year", "posts", "name"))))
    assert "The 10 largest; 20 more in the table" in found
    assert "series 29" in found
    assert "series 19" not in found


def test_parts_beyond_the_colours_are_added_up() -> None:
    rows = tuple((bar, f"part {at}", 10 + at) for bar in "xy" for at in range(30))
    svg = draw(Result("r", "R", ("bar", "part", "posts"), rows, Figure("stacked-bars", "bar", "posts", "part")))
    assert "all others" in texts(svg)
    assert f"x, all others: {sum(10 + at for at in range(22))}" in svg
    assert texts(svg).count(str(sum(10 + at for at in range(30)))) == 2


def test_parts_that_are_each_of_one_bar_are_named_on_it() -> None:
    rows = tuple((f"bar {at % 3}", f"part {at}", 100) for at in range(12))
    found = texts(
        draw(Result("r", "R", ("bar", "part", "posts"), rows, Figure("stacked-bars", "bar", "posts", "part")))
    )
    assert {f"part {at} 100" for at in range(12)} <= set(found)


def test_points_that_are_worlds_apart_get_powers_of_ten() -> None:
    rows = (*tuple((f"p{at}", 1 + at, 0.01 * (1 + at)) for at in range(8)), ("far", 3, 900.0))
    found = texts(draw(Result("r", "R", ("n", "x", "y"), rows, Figure("scatter", "x", "y", value="n"))))
    assert {"0.01", "0.1", "1", "10", "100", "1,000", "far"} <= set(found)


def test_names_of_points_do_not_cover_each_other() -> None:
    rows = (*tuple((f"label {at}", 100, 100) for at in range(9)), ("away", 0, 0))
    found = texts(draw(Result("r", "R", ("n", "x", "y"), rows, Figure("scatter", "x", "y", value="n"))))
    assert 1 <= sum(text.startswith("label") for text in found) <= 4
    assert "away" in found


@given(st.lists(finite, min_size=1, max_size=20), st.booleans())
def test_an_axis_holds_its_values_between_round_ticks(values: list[float], zero: bool) -> None:
    axis = scale(values, 0, 100, zero=zero)
    slack = 1e-9 * max(1.0, abs(axis.low), abs(axis.high))
    assert axis.low - slack <= min(values)
    assert max(values) <= axis.high + slack
    assert axis.ticks[0] == axis.low
    assert axis.ticks[-1] == axis.high
    assert 2 <= len(axis.ticks) <= 12
    assert (axis.low <= 0 <= axis.high) or not zero


@given(st.lists(st.floats(1e-9, 1e12), min_size=2, max_size=20))
def test_powers_of_ten_keep_the_order(values: list[float]) -> None:
    axis = powers_scale(values, 0, 100)
    places = [axis(value) for value in sorted(values)]
    assert places == sorted(places)
    assert places[0] >= -1e-6
    assert places[-1] <= 100 + 1e-6
    assert are_worlds_apart([1, 1, 1, 1000])
    assert not are_worlds_apart([1, 2, 3])
    assert not are_worlds_apart([0, 1, 1e9])


def test_ticks_are_written_with_the_digits_they_have() -> None:
    assert [tick_text(tick) for tick in (0, 0.05, 0.1, 2.5, 1000, -20)] == ["0", "0.05", "0.1", "2.5", "1,000", "−20"]


@given(st.text(max_size=60), st.floats(30, 300))
def test_a_wrapped_name_fits_and_loses_nothing_unless_it_says_so(name: str, room: float) -> None:
    lines = wrapped(name, room)
    assert len(lines) <= 2
    assert all(width_of(line) <= room for line in lines)
    if not any(line.endswith("…") for line in lines):
        assert "".join("".join(lines).split()) == "".join(name.split())


def test_a_name_is_broken_where_its_parts_meet() -> None:
    assert wrapped("model-training/learning-rate", 150) == ["model-training/", "learning-rate"]
    assert shortened("model-training", 60).endswith("…")


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_larger_number_is_never_paler(one: float, low: float, high: float) -> None:
    low, value, high = sorted((one, low, high))
    assert 0 <= shade(low, low, high) <= shade(value, low, high) <= shade(high, low, high) < SHADES


def test_the_funnel_shows_what_was_kept_and_what_the_paper_had() -> None:
    steps = (Step("all", 1000, 2000), Step("some", 250, 500), Step("by people", None, 100), Step("none", 0))
    svg = funnel(steps, WIDE)
    found = texts(svg)
    assert {"1,000", "250", "25.0 % of the step before", "paper 2,000", "by hand", "paper 100"} <= {
        text.removeprefix(tip) for text in found for tip in ("", "all", "some")
    }
    kept = [
        float(bar.attrib["width"])
        for bar in ElementTree.fromstring(svg).iter(f"{SVG}rect")
        if bar.get("class") == "kept"
    ]
    assert kept == [WIDE / 2, WIDE / 8, 0]


def test_a_picture_carries_its_own_colours_for_light_and_dark() -> None:
    svg = picture(draw(evolution()))
    ElementTree.fromstring(svg)
    style = svg[svg.index("<style>") : svg.index("</style>")]
    assert "prefers-color-scheme: dark" in style
    assert "--c0:" in style
    assert ".marker" in style
    assert "<title>Lines: percent by year and phase." in svg
