"""The page, in a real browser: what it shows, how it looks in every light and width, and what it never does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from report_example import distribution, example

from sleuth.study.report.content import Report
from sleuth.study.report.page import html
from sleuth.study.result import Comparison, Figure, Result

# WCAG AA for text of this size.
CONTRAST = 4.5
HOSTILE = '</script><script>throw Error("ran")</script><img src=x onerror="throw Error(1)">"\'&\x00\x1b'

CONTRASTS = """
() => {
  const shade = (colour) => { const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number); return {r, g, b, a}; };
  const over = (top, under, opacity = 1) => {
    const a = top.a * opacity;
    return {r: top.r * a + under.r * (1 - a), g: top.g * a + under.g * (1 - a), b: top.b * a + under.b * (1 - a), a: 1};
  };
  const light = ({r, g, b}) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const ground = (element) => {
    const chain = [];
    for (let at = element; at instanceof HTMLElement; at = at.parentElement) chain.unshift(at);
    let colour = {r: 255, g: 255, b: 255, a: 1};
    for (const at of chain) colour = over(shade(getComputedStyle(at).backgroundColor), colour);
    return colour;
  };
  const found = [];
  const judge = (text, ink, under) => {
    const [x, y] = [light(over(ink, under)), light(under)].sort((a, b) => b - a);
    found.push([text.trim().slice(0, 40), (x + .05) / (y + .05)]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const seen = parent.getClientRects().length && walker.currentNode.textContent.trim();
    if (!seen || parent.closest("script, title, .skip")) continue;
    const svg = parent.closest("svg");
    const ink = getComputedStyle(parent);
    if (!svg) { judge(walker.currentNode.textContent, shade(ink.color), ground(parent)); continue; }
    let under = ground(svg.parentElement);
    const box = parent.getBoundingClientRect();
    const middle = [box.x + box.width / 2, box.y + box.height / 2];
    for (const mark of svg.querySelectorAll("rect")) {
      const at = mark.getBoundingClientRect();
      const style = getComputedStyle(mark);
      const inside = at.left <= middle[0] && middle[0] <= at.right && at.top <= middle[1] && middle[1] <= at.bottom;
      if (inside && style.fill !== "none") under = over(shade(style.fill), under, Number(style.fillOpacity));
    }
    judge(walker.currentNode.textContent, shade(getComputedStyle(parent).fill), under);
  }
  return found;
}
"""

OUTSIDE = """
() => [...document.querySelectorAll("svg")].filter((svg) => svg.getClientRects().length).flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
  }).map((text) => text.textContent);
})
"""


def test_everything_is_there_and_nothing_is_asked_of_the_network(look: Callable[..., Any], report: Report) -> None:
    sight = look(report)
    page = sight.page
    assert sight.complaints == []
    assert sight.requests == [sight.url]
    for result in report.results:
        article = page.locator("article", has_text=result.title).first
        assert article.locator(".wide svg[role=img]").count() == 1
        assert article.locator("table").count() >= 1
        assert article.locator("svg").first.get_attribute("aria-label")
    assert page.locator("#funnel svg").count() == 2
    for said in (
        "One rater only",
        "They could not be read.",
        "the labels are of one rater",
        "sleuth study report corpus",
    ):
        assert page.get_by_text(said).first.is_visible()


def test_every_entry_of_the_contents_leads_somewhere(look: Callable[..., Any], report: Report) -> None:
    page = look(report).page
    targets = page.eval_on_selector_all("nav a", "links => links.map((link) => link.hash)")
    assert len(targets) >= len(report.results) + 5
    assert all(page.locator(target).count() == 1 for target in targets)


def test_a_figure_that_differs_is_told_in_words_and_by_a_sign(look: Callable[..., Any], report: Report) -> None:
    page = look(report).page
    row = page.locator("article tr", has_text="model-setting: posts")
    assert row.locator(".verdict").inner_text() == "≠ differs"
    assert row.locator("td.n").all_inner_texts() == ["643", "639", "+4"]
    same = page.locator("article tr", has_text="visualization: percent")
    assert same.locator(".verdict").inner_text() == "✓ same"
    assert same.locator("td.n").all_inner_texts() == ["5.08", "5.1", "\N{MINUS SIGN}0.02"]
    assert (
        page.locator("article tr", has_text="model-training: posts").locator(".verdict").inner_text()
        == "– not computed"
    )
    assert page.locator("#summary table").inner_text().count("model-setting") == 1
    assert "≠ 1" in page.locator("nav").inner_text()


def test_tables_are_sorted_by_a_click_or_a_key(look: Callable[..., Any], report: Report) -> None:
    article = look(report).page.locator("#a-distribution")
    head = article.locator("table").first.locator("th", has_text="posts")

    def column() -> list[str]:
        cells: list[str] = article.locator("table").first.locator("tbody td:nth-child(2)").all_inner_texts()
        return cells

    head.locator("button").click()
    assert column() == ["111", "306", "643", "1,125"]
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert column() == ["1,125", "643", "306", "111"]
    assert head.get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_all_text_can_be_read(look: Callable[..., Any], report: Report, width: int, dark: bool) -> None:
    found = look(report, width, dark).page.evaluate(CONTRASTS)
    assert len(found) > 200
    assert [(text, round(ratio, 2)) for text, ratio in found if ratio < CONTRAST] == []


@pytest.mark.parametrize("width", [1280, 800, 390, 320])
def test_nothing_is_cut_off_at_any_width(look: Callable[..., Any], report: Report, width: int) -> None:
    page = look(report, width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    assert page.locator(".narrow svg").first.is_visible() == (width < 640)
    assert page.locator(".wide svg").first.is_visible() == (width >= 640)


def test_long_and_foreign_names_stay_inside_their_figures(look: Callable[..., Any]) -> None:
    names = ("WWWWWW MMMMMMMM wwwwwwwww", "非常に長い名前のラベル" * 3, "a/b-c" * 20, "", "x")
    rows = tuple((name, at + 1, f"series {name}") for at, name in enumerate(names))
    columns = ("name", "posts", "series")
    figures = (
        Figure("bars", "name", "posts"),
        Figure("stacked-bars", "name", "posts", "series"),
        Figure("lines", "name", "posts", "series"),
        Figure("heatmap", "name", "series", value="posts"),
        Figure("scatter", "posts", "posts", value="name"),
    )
    results = tuple(Result(f"r{at}", f"Result {at}", columns, rows, figure) for at, figure in enumerate(figures))
    for width in (1280, 390):
        page = look(replace(example(), results=results), width).page
        assert page.locator("article svg").count() == 2 * len(figures)
        assert page.evaluate(OUTSIDE) == []


def test_on_paper_all_is_light_open_and_within_the_sheet(look: Callable[..., Any], report: Report) -> None:
    folded = replace(report, method=tuple(replace(passage, folded=True) for passage in report.method))
    page = look(folded, 700, dark=True).page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.get_by_text("the first <b>of</b> them").is_visible()
    assert page.locator(".wide svg").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    low = [(text, ratio) for text, ratio in page.evaluate(CONTRASTS) if ratio < CONTRAST]
    assert low == []


def test_text_from_a_corpus_is_shown_and_never_run(look: Callable[..., Any]) -> None:
    result = Result(
        HOSTILE,
        HOSTILE,
        ("label", HOSTILE),
        ((HOSTILE, 3), ("other", 4)),
        Figure("bars", "label", HOSTILE),
        (Comparison(HOSTILE, 1, 2, HOSTILE, note=HOSTILE),),
        HOSTILE,
    )
    hostile = replace(example(), title=HOSTILE, subtitle=HOSTILE, made=HOSTILE, results=(result,))
    sight = look(hostile)
    assert sight.complaints == []
    assert sight.requests == [sight.url]
    assert sight.page.locator("img").count() == 0
    assert "onerror" in sight.page.locator("h1").inner_text()


def test_a_script_that_got_in_all_the_same_would_not_run(look: Callable[..., Any], report: Report) -> None:
    page = look(report).page
    page.evaluate(
        "() => { const s = document.createElement('script'); s.text = 'window.ran = 1'; document.body.append(s) }"
    )
    assert page.evaluate("window.ran") is None


def test_without_scripts_the_page_says_the_same(browser: Any, report: Report) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(html(report))
    assert page.locator("article svg").count() == 2 * len(report.results)
    assert page.get_by_text("≠ differs").first.is_visible()
    context.close()


def test_the_page_is_small_and_stays_bounded(report: Report) -> None:
    assert len(html(report)) < 150_000
    rows = tuple((f"label {number}", number, number / 7) for number in range(20_000))
    long = Result("long", "Long", ("label", "posts", "percent"), rows, Figure("bars", "label", "posts"))
    cloud = replace(long, name="cloud", figure=Figure("scatter", "posts", "percent", value="label"))
    page = html(replace(report, results=(long, cloud)))
    assert len(page) < 1_000_000
    assert "the first 400 of 20,000 rows" in page
    assert "and 19,960 more in the table" in page


def test_a_table_that_cannot_be_drawn_is_still_a_table(look: Callable[..., Any], report: Report) -> None:
    textual = Result("t", "Texts", ("a", "b"), (("x", "y"),), Figure("bars", "a", "b"))
    empty = Result("e", "Empty", ("a", "b"), (), Figure("bars", "a", "b"))
    page = look(replace(report, results=(textual, empty))).page
    assert "It is not drawn: the column 'b' holds no numbers." in page.locator("#a-t").inner_text()
    assert page.locator("#a-t td").inner_text() == "y"
    assert "the table is empty" in page.locator("#a-e").inner_text()


def test_the_papers_numbers_are_ticks_on_the_bars(look: Callable[..., Any], report: Report) -> None:
    page = look(report).page
    ticks = page.locator("#a-distribution .wide line.published")
    assert ticks.count() == 3 + 1  # and one in the key
    assert page.locator("#a-where line.published").count() == 0
    no_paper = replace(report, results=(replace(distribution(), comparisons=()),))
    assert look(no_paper).page.locator("article line.published").count() == 0


def test_progress_is_told_result_by_result(report: Report) -> None:
    told: list[tuple[int, int]] = []
    html(report, lambda done, total: told.append((done, total)))
    assert told == [(number, len(report.results)) for number in range(len(report.results))]
