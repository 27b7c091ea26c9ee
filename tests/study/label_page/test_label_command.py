"""`sleuth study label`: what it refuses, what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from label_samples import MANY

from sleuth.cli import main
from sleuth.study.label.server import usual_port

USUAL = ["study", "label", "sample.json", "--codebook", "kinds", "--rater", "ann"]


@pytest.fixture
def here(sample, monkeypatch):
    monkeypatch.chdir(sample.parent)
    return sample.parent


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--round", "0"], "--round must be 1 or more, not 0"),
        (["--port", "70000"], "--port must be between 0 and 65535, not 70000"),
        (["--rater", "ann"], "each --rater must have a name of their own"),
        (["--rater", " "], "--rater ' ' is no name"),
        (["--rater", "b\nb"], "--rater 'b\\nb' is no name"),
        (["--format", "json"], "--format goes with --left"),
        (["--codebook", "none"], "there is no codebook 'none'"),
        (["--corpus", "none"], "none is not a corpus"),
        (["--into", "corpus"], "corpus"),
        (["--into", "none/labels.jsonl"], "cannot write labels to none/labels.jsonl"),
        (["--into", "table.csv"], "table.csv holds something other than labels"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(here, capsys, words, why):
    (here / "table.csv").write_text("source,key,scheme,label,rater\n")
    assert main([*USUAL, *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert why in err


def test_a_sample_that_is_not_there_is_said(here, capsys):
    assert main(["study", "label", "none.json", "--codebook", "kinds", "--rater", "ann"]) == 2
    assert "there is no none.json; `sleuth study sample` draws one" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(here, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main([*USUAL, "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot serve at port" in capsys.readouterr().err


def test_what_is_left_is_told_for_each_rater(here, capsys, begin):
    session = begin("ann")
    session.choose("so:2", ["other"], "performance")
    assert main([*USUAL, "--rater", "bob", "--left"]) == 0
    assert capsys.readouterr().out == "ann: 1 of 8 posts labelled\nbob: 0 of 8 posts labelled\n"


def test_what_is_left_is_told_to_programs_too(here, capsys, begin):
    session = begin("ann")
    session.choose("so:2", ["other"], "performance")
    assert main([*USUAL, "--left", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1
    assert told["raters"] == [
        {
            "rater": "ann",
            "codebook": "kinds",
            "round": 1,
            "posts": 8,
            "labelled": 1,
            "doubtful": 1,
            "seconds_left": None,
            "left": session.left(),
        }
    ]
    assert len(session.left()) == 7


def test_a_codebook_of_ones_own_will_do(here, capsys):
    (here / "marks.toml").write_text(MANY)
    assert main(["study", "label", "sample.json", "--codebook", "marks.toml", "--rater", "ann", "--left"]) == 0
    assert capsys.readouterr().out == "ann: 0 of 8 posts labelled\n"


def test_it_serves_this_machine_at_the_usual_port_and_ends_with_how_to_go_on(command, begin):
    running = command("--codebook", "kinds", "--rater", "ann", "--round", "2")
    port = usual_port(begin("ann", round=2))
    assert re.fullmatch(rf"http://127\.0\.0\.1:{port}/\?token=[\w-]{{20,}}", running.said)
    with urllib.request.urlopen(running.url, timeout=60) as answer:
        assert answer.status == 200
    begin("ann", round=2).choose("so:1", ["other"])
    urllib.request.urlopen(
        urllib.request.Request(
            f"http://127.0.0.1:{port}/changes", headers={"X-Sleuth-Token": running.url.partition("token=")[2]}
        ),
        timeout=60,
    ).close()
    running.process.send_signal(signal.SIGINT)
    out, err = running.process.communicate(timeout=120)
    assert (running.process.returncode, out) == (0, "")
    assert err.splitlines() == [
        "ann: 1 of 8 posts labelled",
        "All of it is in labels.jsonl. To go on: "
        "sleuth study label sample.json --codebook kinds --rater ann --round 2 --into labels.jsonl",
    ]


def test_a_second_window_of_the_same_rater_gets_another_port(command):
    first = command("--codebook", "kinds", "--rater", "ann")
    second = command("--codebook", "kinds", "--rater", "ann")
    assert first.url.partition("?")[0] != second.url.partition("?")[0]
    second.process.send_signal(signal.SIGINT)
    assert "the usual port of ann is taken" in second.process.communicate(timeout=120)[1]


def test_a_terminal_sees_the_count_go_up(sample, begin):
    leader, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", *USUAL, "--no-open"],
        cwd=sample.parent,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        _until(leader, "0 of 8 posts labelled")
        token = url.partition("token=")[2]
        said = {"session": begin("ann").id, "key": "so:1", "labels": ["other"], "second": None}
        request = urllib.request.Request(
            url.partition("?")[0] + "label",
            json.dumps(said).encode(),
            {"X-Sleuth-Token": token, "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=60).close()
        _until(leader, "1 of 8 posts labelled")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
        assert "To go on" in _until(leader, "--into labels.jsonl")
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def _until(leader: int, words: str) -> str:
    seen = ""
    while words not in seen:
        seen += os.read(leader, 4096).decode()
    return seen
