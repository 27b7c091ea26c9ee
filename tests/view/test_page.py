"""The page in a real Chromium: what a person sees, clicks and types."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from sleuth.view import document
from sleuth.view.data import Run

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\"'`${alert(2)}"
SEEN = "</script><img src=x onerror=alert(1)>"
ERROR_RED = (194, 52, 29)  # --error of the light theme
COUNT_PIXELS = """([canvas, wanted]) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let index = 0; index < data.length; index += 4) {
    if (data[index + 3] < 200) continue;
    count += wanted.every((value, part) => Math.abs(data[index + part] - value) < 3);
  }
  return count;
}"""
COUNT_COLOURS = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}"""


def card(page, title):
    """The chart with that title."""
    return page.locator(".card").filter(has=page.get_by_role("heading", name=title, exact=True))


def asked_for(page, title):
    """A chart that is there for the asking."""
    page.locator(".offers").get_by_role("button", name=title).click()
    return card(page, title)


def pixels(chart, colour, wanted=lambda count: True):
    """How many pixels have that colour, once it is as many as are wanted: a chart is drawn a moment after a click."""
    end = time.monotonic() + 20
    while True:
        count = chart.page.evaluate(COUNT_PIXELS, [chart.locator("canvas").first.element_handle(), list(colour)])
        if wanted(count) or time.monotonic() > end:
            return count
        chart.page.wait_for_timeout(50)


@pytest.fixture
def exported(tmp_path):
    """A run's folder as one file; gives the address of that."""

    def export(folder):
        path = tmp_path / "run.html"
        path.write_text(document.exported(Run(folder).page()), encoding="utf-8")
        return path.as_uri()

    return export


def test_it_shows_the_run_its_findings_and_its_curves(serve, story, look):
    sight = look()
    page = sight.open(serve(story.folder).url)
    expect(page.get_by_role("heading", level=1)).to_have_text("train.py")
    expect(page.locator(".state")).to_have_text("stopped, exit status 1")
    expect(page.locator(".facts")).to_contain_text("100")
    expect(page.locator("#findings h2")).to_have_text([re.compile("Certain"), re.compile("Likely")])
    first = page.locator(".finding.open")
    for words in (
        "log of a value that reached 0",
        "train.py:5:18 · step 60",
        "input minimum",
        "log gave -inf in 1 of 128 values",
        "keep the argument away from 0",
        "verified",
        "p.clamp(min=1e-8)",
        "sleuth explain log-of-zero",
    ):
        expect(first).to_contain_text(words)
    expect(first.locator("mark")).to_have_text("torch.log(p)")
    expect(page.locator(".card h3")).to_have_text(
        [
            "Loss",
            "Gradient norm",
            "Step time",
            "Memory",
        ]
    )
    for title in ("Loss", "Memory"):
        chart = card(page, title)
        chart.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        assert chart.locator("canvas").first.evaluate(COUNT_COLOURS) > 20, title
    assert sight.complaints == []
    assert page.url.endswith("/"), "the secret should not stay in the address bar"
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("train.py")


def test_a_finding_marks_its_step_in_the_charts_and_shows_its_line(exported, story, look):
    page = look(color_scheme="light").open(exported(story.folder))
    loss = card(page, "Loss")
    marked = pixels(loss, ERROR_RED, lambda count: count > 200)
    assert marked > 200
    page.get_by_role("button", name="the learning rate is too high").click()
    expect(page.locator(".finding.open .row.meant")).to_contain_text("torch.optim.SGD")
    expect(page.locator(".finding.open")).to_have_count(1)
    assert pixels(loss, ERROR_RED, lambda count: count < marked / 2) < marked / 2
    page.get_by_role("button", name="log of a value").click()
    assert pixels(loss, ERROR_RED, lambda count: count == marked) == marked
    page.get_by_role("button", name="Look closer at step 60").click()
    expect(page.get_by_role("button", name="Show all steps")).to_be_visible()
    page.get_by_role("button", name="Show all steps").click()
    expect(page.get_by_role("button", name="Show all steps")).to_be_hidden()


def test_the_fix_stands_beside_the_line(exported, story, look):
    page = look().open(exported(story.folder))
    line = page.locator(".finding.open .source").bounding_box()
    fix = page.locator(".finding.open .fixes").bounding_box()
    assert fix["x"] >= line["x"] + line["width"]
    assert fix["y"] < line["y"] + line["height"]


def test_a_rate_that_never_changes_is_a_number_and_one_that_does_a_chart(recorded, serve, look):
    recorded.start()
    recorded.values(0, {"loss": 1.0, "learning rate": 0.125})
    page = look().open(serve(recorded.folder).url)
    expect(page.locator(".facts")).to_contain_text("0.125")
    expect(card(page, "Learning rate")).to_have_count(0)
    recorded.values(1, {"loss": 1.0, "learning rate": 0.0625})
    expect(card(page, "Learning rate").locator("data")).to_have_text("0.0625")


def test_layers_are_shown_unasked_where_a_finding_is_about_them(recorded, exported, look):
    recorded.start()
    recorded.values(0, {"loss": 1.0, "gradient norm/a": 1.0, "weight norm/a": 1.0, "mine/a": 1.0})
    recorded.finding(diagnosis="vanishing-gradients", step=0)
    page = look().open(exported(recorded.folder))
    expect(page.locator(".card.wide h3")).to_have_text(["Loss", "Gradient norm by layer", "Mine"])
    expect(page.locator(".offers [aria-pressed=false]")).to_have_text(["Weight norm by layer"])
    page.locator(".offers").get_by_role("button", name="Gradient norm by layer").click()
    expect(page.locator(".card.wide:visible h3")).to_have_text(["Loss", "Mine"])


def test_memory_is_measured_from_zero_and_a_spike_does_not_flatten_the_step_times(recorded, exported, look):
    recorded.start()
    for step in range(40):
        seconds = 9.0 if step == 3 else 0.01
        recorded.values(step, {"memory bytes": 1e9 + step, "step seconds": seconds})
    page = look().open(exported(recorded.folder))
    expect(card(page, "Step time").locator("data")).to_have_text("10 ms")
    plot = page.get_by_role("slider", name="Step time by step")
    expect(plot).to_have_attribute("aria-valuetext", re.compile("^median: "))
    # The line runs near the middle of its chart and at the top of the memory's, not along the floor.
    assert 0.3 < height_of_line(page, "Step time") < 0.7
    assert height_of_line(page, "Memory") > 0.8


HEIGHT_OF_LINE = """([canvas, [red, green, blue]]) => {
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const x = Math.round(width * 0.8);
  for (let y = 0; y < height; y += 1) {
    const at = 4 * (y * width + x);
    if (Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue) < 40) {
      return 1 - (y - 18) / (height - 42);
    }
  }
  return null;
}"""


def height_of_line(page, title):
    """As a share of the chart's height, between its margins."""
    canvas = card(page, title).locator("canvas").first.element_handle()
    return page.evaluate(HEIGHT_OF_LINE, [canvas, [44, 111, 214]])


def test_another_run_can_be_chosen_from_the_list(recorded, another, serve, look):
    recorded.start()
    recorded.values(0, {"loss": 2.0})
    recorded.end()
    another.start(program="older.py")
    another.end(1, "stopped")
    another.age(60)
    sight = look()
    page = sight.open(serve(recorded.folder).url)
    runs = page.get_by_label("Which run to show")
    expect(runs.locator("option")).to_have_text(
        [
            re.compile(r"train\.py --lr 3 · .* · ended, exit status 0"),
            re.compile(r"older\.py .* · stopped, exit status 1"),
        ]
    )
    runs.select_option(another.folder.name)
    expect(page.get_by_role("heading", level=1)).to_have_text("older.py")
    expect(page.locator(".state")).to_have_text("stopped, exit status 1")
    assert "token" not in page.url
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("older.py")
    assert sight.complaints == []


def test_pointing_at_a_chart_reads_it_off(exported, story, look):
    page = look().open(exported(story.folder))
    plot = card(page, "Gradient norm").locator(".plot")
    plot.hover(position={"x": 200, "y": 80})
    tip = plot.locator(".tip")
    expect(tip).to_contain_text(re.compile(r"step \d+"))
    expect(tip.locator("b")).to_have_text("1")
    expect(tip).to_contain_text("0.5 to 2")
    # The other charts are read off at the same step.
    step = re.search(r"step (\d+)", tip.inner_text())[1]
    expect(card(page, "Loss").locator("data").first).to_have_text(f"{2 / (1 + int(step) / 20):.4g}")
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_a_drag_looks_closer_and_a_double_click_shows_everything(exported, story, look):
    page = look().open(exported(story.folder))
    card(page, "Loss").scroll_into_view_if_needed()
    box = card(page, "Loss").locator(".plot").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 90, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="Show all steps")).to_be_visible()
    page.mouse.dblclick(box["x"] + 300, box["y"] + 90)
    expect(page.get_by_role("button", name="Show all steps")).to_be_hidden()


def test_a_chart_can_be_read_with_the_keyboard_alone(exported, story, look):
    page = look().open(exported(story.folder))
    plot = page.get_by_role("slider", name="Loss by step")
    expect(plot).to_have_attribute("aria-valuetext", re.compile(r"^last: training 0\.3361, evaluation 0\.7$"))
    plot.focus()
    page.keyboard.press("Home")
    expect(plot).to_have_attribute("aria-valuetext", "step 0: training 2, evaluation 0.7")
    page.keyboard.press("ArrowRight")
    expect(plot).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("Shift+ArrowRight")
    expect(plot).to_have_attribute("aria-valuenow", "11")
    page.keyboard.press("Escape")
    expect(plot).to_have_attribute("aria-valuetext", re.compile("^last"))


def test_the_scale_can_be_logarithmic(exported, story, look):
    page = look().open(exported(story.folder))
    switch = page.get_by_role("button", name="Logarithmic scale for Loss")
    canvas = card(page, "Loss").locator("canvas").first
    before = canvas.evaluate("(canvas) => canvas.toDataURL()")
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != before


def test_hundreds_of_layers_stay_usable(recorded, exported, look, tmp_path):
    recorded.start()
    for step in range(20):
        values = {f"gradient norm/block.{layer}.mlp.weight": float(layer + step) for layer in range(300)}
        recorded.values(step, {**values, "gradient norm/head.bias": "nan"})
    page = look().open(exported(recorded.folder))
    chart = asked_for(page, "Gradient norm by layer")
    rows = chart.locator(".layers button")
    expect(rows).to_have_count(8)
    expect(chart.locator(".side .tally")).to_have_text("8 named, 301 layers")
    expect(rows.nth(0)).to_contain_text("head.bias")
    expect(rows.nth(1)).to_contain_text("block.299.mlp.weight")
    chart.get_by_label("Which layers").select_option("lowest last")
    expect(rows.nth(1)).to_contain_text("block.0.mlp.weight")
    chart.get_by_label("How many layers").select_option("16 layers")
    expect(rows).to_have_count(16)
    rows.nth(1).click()
    expect(rows.nth(1)).to_have_attribute("aria-pressed", "true")
    chart.get_by_label("Filter the layers").fill("block.17")
    expect(rows).to_have_count(11)
    expect(chart.locator(".side .tally")).to_have_text("11 of 301 layers fit the filter")


def test_what_is_new_arrives_while_training_goes_on(recorded, serve, look):
    recorded.start()
    recorded.values(0, {"loss": 2.0})
    sight = look()
    page = sight.open(serve(recorded.folder).url)
    expect(page.locator(".state")).to_have_text("running")
    expect(page.locator(".state.live")).to_have_count(1)
    expect(page.locator("#findings")).to_contain_text("Nothing found so far.")
    recorded.values(1, {"loss": 1.25, "gradient norm": 7.5})
    expect(card(page, "Loss").locator("data")).to_have_text("1.25")
    expect(card(page, "Gradient norm").locator("data")).to_have_text("7.5")
    recorded.finding(step=1)
    expect(page.locator(".finding.open")).to_contain_text("log of a value that reached 0")
    recorded.end(steps=2)
    expect(page.locator(".state")).to_have_text("ended, exit status 0")
    assert sum("data" in url for url in sight.requests) >= 3
    assert sight.complaints == []


def test_an_open_story_stays_open_when_another_finding_arrives(recorded, serve, look):
    recorded.start()
    recorded.finding(step=1, certainty="likely")
    page = look().open(serve(recorded.folder).url)
    expect(page.locator(".finding.open .severity")).to_have_text("error")
    page.get_by_role("button", name="log of a value").focus()
    recorded.finding(step=2, title="another", place=None)
    expect(page.locator(".finding")).to_have_count(2)
    expect(page.locator(".finding.open .words")).to_have_text("log of a value that reached 0")
    expect(page.get_by_role("button", name="log of a value")).to_be_focused()


def test_it_outlives_the_server(story, look):
    words = [sys.executable, "-m", "sleuth", "view", "--no-open"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        page = look().open(server.stdout.readline().strip())
        expect(page.locator(".state.live")).to_have_count(1)
        server.kill()
    expect(page.get_by_text("The server has ended.")).to_be_visible(timeout=20_000)
    expect(page.locator(".finding.open")).to_contain_text("log of a value that reached 0")
    expect(page.locator(".state.live")).to_have_count(0)


def test_a_killed_run_is_shown_as_killed(recorded, serve, look):
    recorded.start()
    recorded.values(0, {"loss": 2.0})
    page = look().open(serve(recorded.folder).url)
    expect(page.locator(".state")).to_have_text("running")
    recorded.age(60)
    expect(page.locator(".state.killed")).to_have_text("killed, or ended without a word", timeout=15_000)


def test_an_exported_page_needs_nothing_but_its_file(exported, story, look):
    sight = look(offline=True)
    address = exported(story.folder)
    page = sight.open(address)
    expect(page.locator(".finding.open")).to_contain_text("log of a value that reached 0")
    assert card(page, "Loss").locator("canvas").first.evaluate(COUNT_COLOURS) > 20
    time.sleep(1.5)
    assert [url for url in sight.requests if not url.startswith("data:")] == [address]
    assert sight.complaints == []
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert "unsafe" not in policy
    assert "connect-src" not in policy  # default-src 'none' forbids it


@pytest.mark.parametrize("served", [True, False])
def test_names_of_the_program_are_never_markup(recorded, serve, exported, look, served):
    recorded.start(program=HOSTILE)
    place = {"path": f"{HOSTILE}.py", "line": 3, "column": 2, "end_line": 3, "code": HOSTILE}
    edit = {"path": f"{HOSTILE}.py", "line": 1, "column": 1, "end_line": 1, "end_column": 1, "replacement": HOSTILE}
    recorded.finding(
        title=HOSTILE,
        diagnosis=HOSTILE,
        place=place,
        evidence=[{"name": HOSTILE, "value": HOSTILE}],
        chain=[{"what": HOSTILE, "place": place}],
        fixes=[{"title": HOSTILE, "edits": [edit], "verified": True}],
        step=3,
    )
    recorded.write({"row": "expectation", "says": HOSTILE, "place": place})
    for step in range(5):
        names = [f"gradient norm/{HOSTILE}", f"{HOSTILE}/{HOSTILE}", HOSTILE, "__proto__", "constructor"]
        recorded.values(step, dict.fromkeys(names, 1.0 + step))
    recorded.end(1, HOSTILE)
    sight = look()
    page = sight.open(serve(recorded.folder).url if served else exported(recorded.folder))
    expect(page.get_by_role("heading", level=1)).to_contain_text(SEEN)
    expect(page.locator(".finding.open .words")).to_contain_text(SEEN)
    expect(page.locator(".state")).to_contain_text(SEEN)
    expect(page.locator(".expectations")).to_contain_text(SEEN)
    expect(asked_for(page, "Gradient norm by layer").locator(".layers")).to_contain_text(SEEN)
    expect(card(page, "Constructor").locator("data")).to_have_text("5")
    card(page, "Gradient norm by layer").locator(".plot").hover()
    expect(page.locator(".tip .name").first).to_contain_text(SEEN)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == (1 if served else 2)
    assert sight.complaints == []


def test_a_name_cannot_end_the_data_of_an_exported_page(recorded):
    recorded.start(program=HOSTILE)
    page = document.exported(Run(recorded.folder).page())
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "\u2028" not in page


def test_ranks_are_lines_of_their_own_and_can_be_chosen(recorded, exported, look):
    for rank in range(2):
        recorded.start(rank, ranks=2)
        for step in range(5):
            recorded.values(step, {"loss": 1.0 + rank}, rank=rank)
        recorded.finding(rank=rank)
    page = look().open(exported(recorded.folder))
    legend = card(page, "Loss").locator(".key")
    expect(legend).to_have_text(["rank 01", "rank 12"])
    expect(page.locator(".finding")).to_have_count(1)
    expect(page.locator(".finding .place")).to_have_text("train.py:5:18 · step 60, ranks 0, 1")
    page.get_by_label("Which rank to show").select_option("rank 1")
    expect(legend).to_have_text(["2"])


def test_a_value_that_is_not_a_number_is_said_and_marked(recorded, exported, look):
    recorded.start()
    for step in range(30):
        recorded.values(step, {"loss": 1.0 if step < 20 else "nan"})
    page = look(color_scheme="light").open(exported(recorded.folder))
    expect(card(page, "Loss").locator("data")).to_have_text("nan")
    assert pixels(card(page, "Loss"), ERROR_RED, lambda count: count > 50) > 50


SCREENS = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_it_fits_a_laptop_and_a_phone_in_light_and_dark(exported, story, look, screen, scheme):
    sight = look(viewport=SCREENS[screen], color_scheme=scheme)
    page = sight.open(exported(story.folder))
    assert len(page.screenshot()) > 20_000
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", ground)[:3])) / 3
    assert (brightness > 200) == (scheme == "light")
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider == 0
    asked_for(page, "Gradient norm by layer")
    for title in ("Loss", "Gradient norm by layer"):
        card(page, title).scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        assert card(page, title).locator("canvas").first.evaluate(COUNT_COLOURS) > 20


def test_the_theme_can_be_chosen_and_is_remembered(story, serve, look):
    page = look(color_scheme="light").open(serve(story.folder).url)
    theme = page.locator("html")
    expect(theme).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Theme: automatic").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(theme).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(theme).to_have_attribute("data-theme", "dark")


def test_everything_that_can_be_used_has_a_name(exported, story, look):
    page = look().open(exported(story.folder))
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [tabindex='0']")]
          .filter((one) => one.offsetParent && !(one.ariaLabel || one.textContent.trim()))
          .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_motion_stops_where_it_is_not_wanted(recorded, serve, look):
    recorded.start()
    page = look(reduced_motion="reduce").open(serve(recorded.folder).url)
    expect(page.locator(".state.live")).to_have_count(1)
    moving = page.evaluate("getComputedStyle(document.querySelector('.state'), '::before').animationName")
    assert moving == "none"
