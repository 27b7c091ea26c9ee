"""`sleuth view` as a person types it: a real process, a real signal."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

COMMAND = [sys.executable, "-m", "sleuth", "view"]


@pytest.fixture
def environment():
    """No display, so that no test opens a browser by itself."""
    return {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}


@pytest.fixture
def view(environment):
    def run(*arguments):
        return subprocess.run([*COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=600)

    return run


@contextmanager
def serving(environment, *arguments):
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_it_prints_the_address_with_its_secret_and_ends_quietly(story, environment):
    with serving(environment, "--no-open") as (process, url):
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert b"<title>Sleuth</title>" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=600) == ("", "")
        assert process.returncode == 0


def test_without_a_display_no_browser_is_opened(story, environment, tmp_path):
    called = tmp_path / "called"
    environment["BROWSER"] = f"sh -c 'touch {called}' %s"
    with serving(environment) as (_, url):
        urllib.request.urlopen(url, timeout=10).close()
        assert not called.exists()


def test_with_a_display_the_browser_is_given_the_address(story, environment, tmp_path):
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened.new\nmv {tmp_path}/opened.new {tmp_path}/opened\n'
    )
    script.chmod(0o755)
    environment.update(BROWSER=str(script), DISPLAY=":77")
    with serving(environment) as (_, url):
        urllib.request.urlopen(url, timeout=10).close()
        assert (tmp_path / "opened").read_text() == url


def test_a_port_can_be_chosen_and_must_be_free(story, environment, view):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        shown = view("--no-open", "--port", port)
        assert (shown.returncode, shown.stdout) == (2, "")
        assert shown.stderr == f"sleuth: cannot serve at port {port}: Address already in use\n"
    with serving(environment, "--no-open", "--port", port) as (_, url):
        assert url.startswith(f"http://127.0.0.1:{port}/?token=")


def test_a_page_is_exported_to_one_file(story, view, tmp_path):
    shown = view("--export", "run.html")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "run.html\n", "")
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def test_a_page_needs_no_framework(story, environment):
    program = (
        "import sys; from sleuth.cli import main; main(['view', '--export', 'run.html']); import sleuth.view.server; "
        "print(*{'torch', 'numpy', 'rich'} & set(sys.modules))"
    )
    words = [sys.executable, "-c", program]
    shown = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout == "run.html\n\n"


def test_the_newest_run_or_a_named_one_is_shown(story, view, tmp_path):
    older = story.folder.with_name("20250101-000000-old-1")
    older.mkdir()
    (older / "record.jsonl").write_text('{"row":"start","schema":2,"program":"old.py","arguments":[],"time":1}\n')
    os.utime(older / "record.jsonl", (1, 1))
    assert view("--export", "a.html").returncode == 0
    assert view(str(older), "--export", "b.html").returncode == 0
    assert '"program":"train.py"' in (tmp_path / "a.html").read_text()
    assert '"program":"old.py"' in (tmp_path / "b.html").read_text()


def test_it_looks_where_the_run_was_told_to_write(story, view, tmp_path):
    (tmp_path / ".sleuth").rename(tmp_path / "notes")
    assert view("--export", "a.html").returncode == 2
    assert view("--record", "notes", "--export", "a.html").returncode == 0
    (tmp_path / "pyproject.toml").write_text('[tool.sleuth.run]\nrecord = "notes"\n')
    assert view("--export", "a.html").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "sleuth: nowhere: there is no such folder\n"),
        (["train.py"], "sleuth: train.py is not a folder\n"),
        (["."], "sleuth: . holds no record of a run\n"),
        (["--port", "70000"], "sleuth: --port must be between 0 and 65535, not 70000\n"),
        (["--port", "x"], "sleuth: argument --port: invalid int value: 'x'; see `sleuth view --help`\n"),
        (["--export", "no/run.html"], "sleuth: cannot write the report to no/run.html: No such file or directory\n"),
        (["--record", "none"], "sleuth: no run is recorded under none/runs; `sleuth run` records one\n"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(story, view, arguments, message):
    shown = view(*arguments)
    assert (shown.returncode, shown.stdout, shown.stderr) == (2, "", message)
