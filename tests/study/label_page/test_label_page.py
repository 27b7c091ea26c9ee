"""The labelling page in a real Chromium, worked by keyboard as a rater does."""

from __future__ import annotations

import json
import re
import signal
import threading

import pytest
from label_samples import HOSTILE, MANY, NESTED, post, write_sample
from playwright.sync_api import expect

from sleuth.study.label.codebook import load_codebook
from sleuth.study.label.posts import posts_of
from sleuth.study.label.server import LabelServer
from sleuth.study.label.session import Session
from sleuth.study.label.store import read_labels


def order(url_or_session):
    return [shown.key for shown in url_or_session.posts]


def title(key):
    return f"Question {key.removeprefix('so:')}"


def heading(page):
    return page.get_by_role("heading", level=1)


def standing(sample):
    return {label.key: label.label for label in read_labels(sample.with_name("labels.jsonl"))}


def test_a_key_labels_the_post_and_goes_on_to_the_next(serve, look, sample):
    server = serve()
    keys = order(server.session)
    page = look().open(server.url)
    expect(heading(page)).to_have_text(title(keys[0]))
    expect(page.locator("article")).to_contain_text(f"The words of {keys[0][3:]}.")
    expect(page.locator("article pre")).to_have_text(f"x = {keys[0][3:]}")
    expect(page.locator("article .tags")).to_have_text("keras")
    page.keyboard.press("p")
    expect(heading(page)).to_have_text(title(keys[1]))
    expect(page.locator(".last")).to_have_text(f"Saved: Performance · {title(keys[0])}")
    expect(page.locator(".count")).to_have_text("1 of 8")
    assert standing(sample) == {keys[0]: "performance"}


def test_all_posts_labelled_by_keyboard_are_all_there_and_the_page_says_so(serve, look, sample):
    server = serve()
    page = look().open(server.url)
    for key in "ictmpueo":
        page.keyboard.press(key)
    expect(heading(page)).to_have_text("All 8 posts are labelled")
    expect(page.locator("article")).to_contain_text("Everything is saved")
    expect(page.locator(".progress")).to_contain_text("all done")
    names = ["implementation", "program-crash", "training-anomaly", "model-migration"]
    names += ["performance", "comprehension", "installation", "other"]
    assert standing(sample) == dict(zip(order(server.session), names, strict=True))
    page.keyboard.press("ArrowLeft")
    expect(heading(page)).to_have_text(title(order(server.session)[-1]))


def test_shift_gives_a_second_choice_before_or_after_the_first(serve, look, sample):
    server = serve()
    keys = order(server.session)
    page = look().open(server.url)
    page.keyboard.press("Shift+C")
    expect(page.locator(".said")).to_contain_text("second choice: Program crash. Now the first.")
    page.keyboard.press("t")
    expect(heading(page)).to_have_text(title(keys[1]))
    page.keyboard.press("p")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+I")
    expect(page.locator(".said")).to_have_text(re.compile("Performance saved.*second choice: Implementation"))
    seconds = {label.key: label.second for label in read_labels(sample.with_name("labels.jsonl"))}
    assert seconds == {keys[0]: "program-crash", keys[1]: "implementation"}


def test_the_right_button_gives_a_second_choice_too(serve, look, sample):
    page = look().open(serve().url)
    page.get_by_role("button", name="Performance").click(button="right")
    page.get_by_role("button", name="Comprehension").click()
    expect(page.locator(".last")).to_contain_text("Saved: Comprehension")
    (label,) = read_labels(sample.with_name("labels.jsonl"))
    assert (label.label, label.second) == ("comprehension", "performance")


def test_undo_takes_the_last_choices_back_one_by_one(serve, look, sample):
    server = serve()
    keys = order(server.session)
    page = look().open(server.url)
    page.keyboard.press("p")
    page.keyboard.press("c")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("t")
    expect(page.locator(".count")).to_have_text("2 of 8")
    page.keyboard.press("Backspace")
    expect(page.locator(".said")).to_contain_text("Program crash saved")
    page.keyboard.press("Control+z")
    expect(heading(page)).to_have_text(title(keys[1]))
    expect(page.locator(".said")).to_have_text("no label yet")
    expect(page.locator(".last")).to_contain_text("Saved: taken back")
    assert standing(sample) == {keys[0]: "performance"}


def test_the_codebooks_keys_win_over_the_pages(serve, look, sample):
    server = serve()
    page = look().open(server.url)
    page.keyboard.press("u")  # Comprehension here; undo elsewhere
    expect(page.locator(".count")).to_have_text("1 of 8")
    page.keyboard.press("F1")
    expect(page.get_by_role("dialog")).to_contain_text("take back the last choice")
    keys = page.get_by_role("dialog").locator("div").filter(has_text="take back the last choice").locator("kbd")
    expect(keys).to_have_text(["⌫", "Ctrl Z"])
    page.keyboard.press("p")
    expect(page.locator(".count")).to_have_text("1 of 8")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_key_held_down_labels_one_post(serve, look, sample):
    page = look().open(serve().url)
    for _ in range(5):
        page.keyboard.down("p")
    expect(page.locator(".last")).to_contain_text("Saved")
    expect(page.locator(".count")).to_have_text("1 of 8")


def test_a_note_is_written_kept_and_found_among_the_doubtful(serve, look, sample):
    server = serve()
    keys = order(server.session)
    page = look().open(server.url)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("n")
    page.keyboard.type("picture of an error")
    page.keyboard.press("Enter")
    expect(page.locator(".said q")).to_have_text("picture of an error")
    page.keyboard.press("n")
    page.keyboard.type(" that is dropped")
    page.keyboard.press("Escape")
    expect(page.locator(".said q")).to_have_text("picture of an error")
    page.keyboard.press("ArrowLeft")
    page.get_by_label("Which posts to show").select_option("doubtful only")
    expect(heading(page)).to_have_text(title(keys[1]))
    expect(page.locator(".found")).to_have_text("1 shown")
    notes = read_labels(sample.with_name("labels.notes.jsonl"))
    assert [(note.key, note.label, note.rater) for note in notes] == [(keys[1], "picture of an error", "ann")]
    assert standing(sample) == {}


def test_search_and_filter_decide_what_the_arrows_reach(serve, look):
    server = serve()
    keys = order(server.session)
    page = look().open(server.url)
    page.keyboard.press("/")
    page.keyboard.type("words of 4")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("Question 4")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".last")).to_have_text("This is the last post.")
    expect(heading(page)).to_have_text("Question 4")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(page.locator(".count")).to_have_text("1 of 8")
    page.keyboard.press("f")
    expect(page.locator(".found")).to_have_text("7 shown")
    seen = set()
    while heading(page).text_content() != title(next(key for key in keys if key != "so:4")):
        page.keyboard.press("ArrowLeft")
    for _ in range(7):
        seen.add(heading(page).text_content())
        page.keyboard.press("ArrowRight")
    assert seen == {title(key) for key in keys if key != "so:4"}


def test_many_labels_are_switched_on_and_off(serve, look, sample):
    path = sample.with_name("marks.toml")
    path.write_text(MANY)
    server = serve(codebook=str(path))
    keys = order(server.session)
    page = look().open(server.url)
    page.keyboard.press("c")
    page.keyboard.press("1")
    page.keyboard.press("e")
    page.keyboard.press("c")
    expect(page.locator(".said")).to_have_text("error, log saved")
    expect(heading(page)).to_have_text(title(keys[0]))
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text(title(keys[1]))
    assert standing(sample) == {keys[0]: "error+log"}


def test_labels_with_parts_narrow_down(serve, look, sample):
    path = sample.with_name("nested.toml")
    path.write_text(NESTED)
    server = serve(codebook=str(path))
    keys = order(server.session)
    page = look().open(server.url)
    page.keyboard.press("d")
    expect(page.locator(".label b")).to_have_text(["Image", "Text"])
    page.keyboard.press("Escape")
    expect(page.locator(".label b")).to_have_text(["data ›", "Model"])
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(heading(page)).to_have_text(title(keys[1]))
    expect(page.locator(".label b")).to_have_text(["data ›", "Model"])
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".said")).to_contain_text("data › Text saved")
    assert standing(sample) == {keys[0]: "data/text"}


def test_the_mouse_does_it_too(serve, look, sample):
    page = look().open(serve().url)
    page.get_by_role("button", name="Installation and environment").click()
    expect(page.locator(".count")).to_have_text("1 of 8")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".count")).to_have_text("0 of 8")
    expect(page.locator(".last")).to_contain_text("Saved: taken back")
    assert standing(sample) == {}


def test_the_codebook_tells_its_definitions_examples_and_rules(serve, look):
    page = look().open(serve().url)
    expect(page.get_by_text("Time and memory: slow training")).to_be_visible()
    expect(page.get_by_text("GPU utilisation at 5 %")).to_be_hidden()
    page.get_by_role("button", name="Examples").click()
    expect(page.get_by_text("GPU utilisation at 5 %")).to_be_visible()
    expect(page.get_by_role("list", name="Rules")).to_be_hidden()
    page.get_by_role("button", name="Rules").click()
    expect(page.get_by_role("list", name="Rules").get_by_role("listitem")).to_have_count(8)
    page.reload()
    expect(page.get_by_text("GPU utilisation at 5 %")).to_be_visible()


def test_killed_in_the_middle_it_goes_on_with_everything_confirmed_and_nothing_twice(command, look, sample):
    first = command("--codebook", "kinds", "--rater", "ann")
    window = look()
    page = window.open(first.url)
    titles = []
    for key in "pct":
        titles.append(heading(page).text_content())
        page.keyboard.press(key)
        expect(page.locator(".last")).to_have_text(re.compile(f"Saved: .*{titles[-1]}$"))
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    for key in "eo":
        titles.append(heading(page).text_content())
        page.keyboard.press(key)
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("The server has ended. 2 choices are kept in this browser, not saved yet.")
    expect(notice).to_contain_text("sleuth study label sample.json --codebook kinds --rater ann --into labels.jsonl")
    expect(page.locator(".last")).to_have_text(f"Not saved yet: None of these · {titles[-1]}")
    assert len(standing(sample)) == 3
    page.close()

    again = command("--codebook", "kinds", "--rater", "ann")
    page = window.open(again.url)
    expect(page.locator(".count")).to_have_text("5 of 8")
    expect(page.get_by_role("alert")).to_be_hidden()
    sixth = heading(page).text_content()
    assert sixth not in titles
    page.keyboard.press("i")
    expect(page.locator(".last")).to_have_text(f"Saved: Implementation · {sixth}")
    lines = sample.with_name("labels.jsonl").read_text().splitlines()
    names = ["performance", "program-crash", "training-anomaly", "installation", "other", "implementation"]
    told = {title(json.loads(line)["key"]): json.loads(line)["label"] for line in lines}
    assert told == dict(zip([*titles, sixth], names, strict=True))
    assert len(lines) == 6


def test_a_page_left_open_over_a_kill_goes_on_by_itself_once_the_new_address_is_opened(command, look, sample):
    first = command("--codebook", "kinds", "--rater", "ann")
    window = look()
    page = window.open(first.url)
    first.end()
    page.keyboard.press("p")
    expect(page.get_by_role("alert")).to_contain_text("One choice is kept in this browser")
    again = command("--codebook", "kinds", "--rater", "ann")
    expect(page.get_by_role("alert")).to_contain_text("started anew")
    assert standing(sample) == {}
    window.open(again.url)
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator(".last")).to_contain_text("Saved: Performance")
    assert list(standing(sample).values()) == ["performance"]


def test_an_answer_that_got_lost_does_not_double_the_label(serve, look, sample):
    window = look()
    lost = []

    def lose_the_first(route):
        if not lost:
            lost.append(route.fetch().status)
            return route.abort()
        return route.continue_()

    window.context.route("**/label", lose_the_first)
    page = window.open(serve().url)
    page.keyboard.press("p")
    expect(page.locator(".last")).to_contain_text("Saved: Performance")
    assert lost == [200]
    assert len(sample.with_name("labels.jsonl").read_text().splitlines()) == 1


def test_a_label_is_not_called_saved_before_the_server_answers(serve, look):
    window = look()
    held = []
    window.context.route("**/label", lambda route: held.append(route))
    page = window.open(serve().url)
    page.keyboard.press("p")
    expect(page.locator(".last")).to_have_text(re.compile("^Not saved yet: Performance"))
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.locator(".last")).to_have_text(re.compile("^Saved: Performance"))


def test_a_disk_that_is_full_is_said_and_tried_again(serve, look, sample, monkeypatch):
    server = serve()
    labels = sample.with_name("labels.jsonl")
    labels.unlink()
    labels.mkdir()
    page = look().open(server.url)
    page.keyboard.press("p")
    expect(page.get_by_role("alert")).to_contain_text("The server cannot save")
    expect(page.locator(".last")).to_have_text(re.compile("^Not saved yet"))
    labels.rmdir()
    expect(page.locator(".last")).to_have_text(re.compile("^Saved: Performance"))
    expect(page.get_by_role("alert")).to_be_hidden()
    assert list(standing(sample).values()) == ["performance"]


def test_two_tabs_of_one_rater_see_each_others_labels(serve, look, sample):
    window = look()
    url = serve().url
    here, there = window.open(url), window.open(url)
    here.keyboard.press("p")
    expect(there.locator(".count")).to_have_text("1 of 8")
    there.keyboard.press("ArrowRight")
    there.keyboard.press("c")
    expect(here.locator(".count")).to_have_text("2 of 8")
    expect(there.locator(".last")).to_contain_text("Saved: Program crash")
    assert sorted(standing(sample).values()) == ["performance", "program-crash"]


def test_two_raters_label_blind_into_one_file(command, look, sample):
    both = command("--codebook", "kinds", "--rater", "ann", "--rater", "bob")
    ann_url = both.url
    assert both.said.startswith("ann: ")
    bob_line = both.process.stdout.readline()
    assert bob_line.startswith("bob: ")
    # In one and the same browser, too.
    window = look()
    ann, bob = window.open(ann_url), window.open(bob_line.split()[-1])
    ann.keyboard.press("p")
    ann.keyboard.press("n")
    ann.keyboard.type("what ann thinks")
    ann.keyboard.press("Enter")
    expect(ann.locator(".count")).to_have_text("1 of 8")
    bob.keyboard.press("c")
    bob.keyboard.press("c")
    expect(bob.locator(".last")).to_contain_text("Saved")
    bob.reload()
    expect(bob.locator(".count")).to_have_text("2 of 8")
    assert "what ann thinks" not in bob.content()
    assert "what ann thinks" in ann.content()
    labels = read_labels(sample.with_name("labels.jsonl"))
    assert sorted((label.rater, label.label) for label in labels) == [
        ("ann", "performance"),
        ("bob", "program-crash"),
        ("bob", "program-crash"),
    ]


@pytest.fixture
def serve_posts(tmp_path):
    """Serves these posts to a rater of that name."""
    servers = []

    def start(rows, rater="ann"):
        posts = posts_of(write_sample(tmp_path / "other", rows))
        server = LabelServer(Session(posts, load_codebook("kinds"), rater, 1, tmp_path / "other.jsonl"))
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_long_block_shows_its_start_and_its_end_and_all_of_it_on_request(serve_posts, look):
    lines = [f"line {number}" for number in range(200)]
    page = look().open(serve_posts([post(1, code=["short", "\n".join(lines)])]).url)
    expect(page.locator("figcaption")).to_have_text(["Code 1 of 2", "Code 2 of 2"])
    block = page.locator("pre").nth(1)
    expect(block).to_contain_text("line 0\n")
    expect(block).to_contain_text("140 lines left out")
    expect(block).to_contain_text("line 199")
    page.get_by_role("button", name="Show all 200 lines").click()
    assert block.text_content() == "\n".join(lines)


def test_no_word_of_a_post_becomes_markup_and_nothing_is_fetched_from_elsewhere(serve_posts, look):
    row = post(1, title=HOSTILE, text=f"{HOSTILE}\n\n{HOSTILE}", code=[HOSTILE], tags=[HOSTILE])
    hostile = serve_posts([row, post(2, key=f"so:{HOSTILE}")], HOSTILE)
    window = look()
    page = window.open(hostile.url)
    for _ in range(2):
        page.keyboard.press("n")
        page.keyboard.type("<b>note</b>")
        page.keyboard.press("Enter")
        page.keyboard.press("p")
    expect(page.locator(".count")).to_have_text("2 of 2")
    expect(heading(page)).to_have_text("All 2 posts are labelled")
    page.keyboard.press("ArrowLeft")
    assert page.locator("main img, main script, main b b").count() == 0
    origin = f"http://127.0.0.1:{hostile.server_port}/"
    assert all(request.startswith((origin, "data:")) for request in window.requests)
    assert window.complaints == []


def test_the_page_can_reach_nobody_else(serve, look):
    page = look().open(serve().url)
    page.evaluate(
        """async (elsewhere) => {
            const kept = new Set();
            addEventListener("securitypolicyviolation", (event) => {
                kept.add(event.effectiveDirective);
                document.body.dataset.kept = [...kept].sort().join(" ");
            });
            await fetch(elsewhere, { mode: "no-cors" }).catch(() => null);
            document.body.append(Object.assign(document.createElement("script"), { src: elsewhere }));
            document.body.append(Object.assign(document.createElement("img"), { src: elsewhere }));
        }""",
        serve("bob").url,
    )
    expect(page.locator("body")).to_have_attribute("data-kept", "connect-src img-src script-src-elem")


def test_the_address_bar_forgets_the_secret(serve, look):
    server = serve()
    page = look().open(server.url)
    assert server.token not in page.url
    page.reload()
    expect(heading(page)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1280])
def test_it_fits_every_width_in_light_and_dark(serve, look, scheme, width):
    window = look(viewport={"width": width, "height": 740}, color_scheme=scheme)
    page = window.open(serve().url)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.get_by_role("button", name="Implementation")).to_be_in_viewport()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", ground)[:3]) / 3
    assert (brightness < 60) == (scheme == "dark")


def test_the_focus_is_seen_and_every_control_has_a_name(serve, look):
    page = look().open(serve().url)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea")]
        .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim())).length"""
    )
    assert nameless == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.get_by_role("button", name="Performance").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".last")).to_contain_text("Saved: Performance")
