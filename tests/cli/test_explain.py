"""`sleuth explain`: the list, a page, a misspelt name."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

LIST = """\
api-misuse
  missing-zero-grad  gradients add up

invalid-range
  log-of-zero        log of a value that reached 0
  log-of-zeta        log of a value nobody knows
"""


def test_without_a_name_all_diagnoses_are_listed_by_root_cause(sleuth):
    shown = sleuth("explain")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, LIST, "")


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (["--effect", "nan"], ["log-of-zero", "log-of-zeta"]),
        (["--root-cause", "api-misuse"], ["missing-zero-grad"]),
        (["--kind", "training-anomaly", "--search", "underflowed"], ["log-of-zero"]),
        (["--search", "Gradients NOTHING"], ["missing-zero-grad"]),
        (["--engine", "live", "--stage", "model-training"], ["log-of-zero", "log-of-zeta", "missing-zero-grad"]),
        (["--engine", "graph"], []),
    ],
)
def test_filters_and_words_narrow_the_list(sleuth, filters, names):
    shown = sleuth("explain", "--format", "json", *filters)
    assert shown.returncode == 0
    assert [diagnosis["name"] for diagnosis in json.loads(shown.stdout)["diagnoses"]] == names


def test_an_empty_list_says_so(sleuth):
    shown = sleuth("explain", "--search", "zebra")
    assert (shown.returncode, shown.stdout) == (0, "")
    assert shown.stderr == "sleuth: no diagnosis is like that; `sleuth explain` lists them all\n"


def test_an_unknown_filter_value_is_refused_with_the_known_ones(sleuth):
    shown = sleuth("explain", "--effect", "boom")
    assert shown.returncode == 2
    assert shown.stderr.startswith("sleuth: --effect boom: choose one of crash, ")


def test_a_page_piped_is_its_markdown(sleuth, pages):
    shown = sleuth("explain", "log-of-zero")
    text = (pages / "log-of-zero.md").read_text(encoding="utf-8").split("+++\n")[2]
    assert shown.returncode == 0
    assert shown.stdout == f"# log of a value that reached 0\n\n{text}"


def test_a_page_in_colour_is_rendered(sleuth):
    shown = sleuth("explain", "log-of-zero", FORCE_COLOR="1")
    assert "\x1b[" in shown.stdout
    assert "```" not in shown.stdout
    assert "\x1b" not in sleuth("explain", "log-of-zero", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_the_list_in_colour_has_the_same_words(sleuth):
    from rich.text import Text

    shown = Text.from_ansi(sleuth("explain", FORCE_COLOR="1").stdout).plain
    assert [line.rstrip() for line in shown.splitlines()] == LIST.splitlines()


def on_a_terminal(words, environment, rows):
    """What a command writes on a terminal of so many rows."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    process = subprocess.Popen(words, env={**environment, "TERM": "xterm-256color"}, stdout=end)
    os.close(end)
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(terminal)
    assert process.wait(timeout=600) == 0
    return shown.decode()


def test_a_real_terminal_gets_a_rendered_page(command, environment):
    shown = on_a_terminal(command("explain", "log-of-zero"), environment, rows=200)
    assert "\x1b[" in shown
    assert "```" not in shown


@pytest.mark.parametrize(
    ("rows", "options", "pager", "turned"),
    [
        (10, [], "sed 's/^/page: /'", True),
        (200, [], "sed 's/^/page: /'", False),
        (10, ["--no-pager"], "sed 's/^/page: /'", False),
        (10, [], "", False),
        (10, [], "no-such-pager 2>&-", False),
    ],
)
def test_a_long_page_goes_through_the_users_pager_on_a_terminal(command, environment, rows, options, pager, turned):
    words = command("explain", "log-of-zero", *options)
    shown = on_a_terminal(words, {**environment, "PAGER": pager}, rows)
    assert "What you see" in shown
    assert ("page: " in shown) is turned


def test_no_pager_is_started_for_a_pipe(sleuth):
    assert "page: " not in sleuth("explain", "log-of-zero", PAGER="sed 's/^/page: /'", FORCE_COLOR="1").stdout


def test_before_and_after_stand_above_their_code(tmp_path):
    from sleuth import handbook
    from sleuth.cli.handbook_view import drawn_page

    page = handbook.page("log-of-zero")
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", drawn_page(page, page.text)).splitlines()]
    before, after = lines.index("Before:"), lines.index("After:")
    code = [number for number, line in enumerate(lines) if line == "import torch"]
    assert before < code[0] < after < code[1]


def test_json_gives_the_facts_of_a_page(sleuth, pages):
    page = json.loads(sleuth("explain", "--format", "json", "log-of-zero").stdout)
    assert page.pop("text").startswith("## What you see\n")
    assert page == {
        "schema": 1,
        "name": "log-of-zero",
        "title": "log of a value that reached 0",
        "kind": "training-anomaly",
        "root_cause": "invalid-range",
        "stage": "model-training",
        "effect": "nan",
        "engines": ["live"],
        "references": ["https://example.org/one", "https://example.org/two, three"],
    }


@pytest.mark.parametrize("name", ["missing-zero-grads", "Missing_Zero_Grad", "missing zero grad", "mising-zerograd"])
def test_a_name_close_to_only_one_shows_that_page_with_a_note(sleuth, name):
    shown = sleuth("explain", name)
    assert shown.returncode == 0
    assert shown.stdout.startswith("# gradients add up\n")
    assert shown.stderr == f"sleuth: there is no diagnosis called {name!r}; this is missing-zero-grad\n"


def test_a_name_close_to_several_suggests_them(sleuth):
    shown = sleuth("explain", "log-of-zerta")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == (
        "sleuth: there is no diagnosis called 'log-of-zerta'; did you mean log-of-zeta or log-of-zero?\n"
    )


def test_a_name_close_to_none_points_at_the_list(sleuth):
    shown = sleuth("explain", "xyzzy")
    assert shown.returncode == 2
    assert shown.stderr == "sleuth: there is no diagnosis called 'xyzzy'; `sleuth explain` lists them all\n"


@pytest.mark.parametrize("name", ["../pages/log-of-zero", "", "."])
def test_a_name_is_never_a_path(sleuth, name):
    assert sleuth("explain", name).returncode in (0, 2)
    assert "Error" not in sleuth("explain", name).stderr


def test_a_name_and_a_filter_together_are_refused(sleuth):
    assert sleuth("explain", "log-of-zero", "--effect", "nan").returncode == 2


def test_the_real_handbook_is_listed_whole():
    from sleuth import handbook

    shown = subprocess.run(
        [sys.executable, "-m", "sleuth", "explain", "--format", "json"], capture_output=True, check=True
    )
    listed = [diagnosis["name"] for diagnosis in json.loads(shown.stdout)["diagnoses"]]
    assert listed == list(handbook.names())
