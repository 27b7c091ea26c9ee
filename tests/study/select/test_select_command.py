"""`sleuth study select`: what it prints, writes and refuses."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
import synthetic

from sleuth.cli import main
from sleuth.study import corpus, select


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(synthetic.write(tmp_path_factory.mktemp("command") / "posts", 2_000).folder)


def run(*arguments: str) -> int:
    try:
        return main(["study", "select", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)


def test_the_funnel_is_printed_beside_the_published_one(posts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(posts, "--preset", "implementation") == 0
    printed = capsys.readouterr().out
    assert "Liu et al., IST 2024" in printed
    lines = [line.split() for line in printed.splitlines()]
    assert [line[-2:] for line in lines if line[:1] in (["how-to"], ["with"])] == [
        ["14,203", "15.7%"],
        ["4,327", "30.5%"],
    ]
    assert "\x1b" not in printed


def test_json_has_the_same_funnel_that_is_in_the_manifest(
    posts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = str(tmp_path / "out")
    assert run(posts, "--preset", "bugs", "--into", into, "--format", "json") == 0
    printed = json.loads(capsys.readouterr().out)
    written = corpus.open_corpus(into)
    assert printed["funnel"] == written.manifest["funnel"]
    assert printed["into"] == into
    assert written.manifest["posts"] == printed["funnel"][2]["posts"] > 0


def test_options_are_steps_of_their_own_after_the_preset(posts: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = (
        "--tag tensorflow* --without-tag keras --since 2016-01-01 --min-score 1 --answered --open --how-to".split()
    )
    assert run(posts, "--preset", "challenges", *options, "--format", "json") == 0
    funnel = json.loads(capsys.readouterr().out)["funnel"]
    assert [step["step"] for step in funnel[3:]] == [
        "tags any tensorflow*, none keras",
        "created since 2016-01-01",
        "score min 1",
        "answered",
        "closed no",
        "how_to",
    ]
    counts = [step["posts"] for step in funnel if step["posts"] is not None]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] > 0


def test_every_filter_option_narrows_the_selection(posts: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (
        "--kind issue|--site github|--tag pytorch|--all-tags python|--without-tag keras|--since 2020-01-01|"
        "--until 2020-01-01|--min-score 2|--min-views 900|--min-answers 2|--accepted|--not-accepted|--answered|"
        "--unanswered|--closed|--open|--how-to|--nan-or-inf|--fix-commits"
    ).split("|"):
        assert run(posts, *option.split(), "--format", "json") == 0
        before, after = (step["posts"] for step in json.loads(capsys.readouterr().out)["funnel"])
        assert 0 < after < before, option


def test_list_and_show_print_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    listed = capsys.readouterr().out
    assert all(f"  {name}" in listed for name in (*select.names(), "nan_or_inf", "fix_commit", "how_to"))
    assert run("--list", "--format", "json") == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["presets"]] == select.names()
    assert run("--show", "numerical") == 0
    assert capsys.readouterr().out == select.load("numerical").text


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("", "which corpus?"),
        ("{posts}", "which posts? Give a --preset"),
        ("{posts} --preset nope", "there is no preset 'nope'; there are bugs"),
        ("--show nope", "there is no preset 'nope'; there are bugs"),
        ("{posts}/posts --preset bugs", "is not a corpus; `sleuth study ingest` makes one"),
        ("{posts} --preset bugs --engine oracle", "there is no engine 'oracle'"),
        ("{posts} --since soon", "created.since takes a day such as 2018-12-31, not 'soon'"),
        ("{posts} --preset bugs --into {posts} --force", "is the corpus to select from"),
        ("{posts} --preset bugs --into {posts}/posts --force", "is there already, and is not a corpus"),
        ("{posts} --kind quest", "there is no kind 'quest'; there are question, answer, issue"),
        ("{posts} --since 2020-01-02 --until 2020-01-01", "created: since 2020-01-02 is after until 2020-01-01"),
    ],
)
def test_a_refusal_is_one_line_and_status_2(
    arguments: str, line: str, posts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments.format(posts=posts).split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert line in printed.err
    assert printed.err.count("\n") == 1


def test_a_port_that_nobody_listens_at_is_told_as_such(posts: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert run(posts, "--preset", "bugs", "--engine", f"spark://127.0.0.1:{port}") == 2
    printed = capsys.readouterr()
    assert f"no Spark master answers at 127.0.0.1:{port}" in printed.err
    assert printed.err.count("\n") == 1


def test_the_funnel_says_and_where_all_tags_are_asked_for(posts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(posts, "--all-tags", "keras", "--all-tags", "gpu", "--tag", "a", "--tag", "b") == 0
    told = capsys.readouterr().out
    assert "all keras and gpu" in told
    assert "any a or b" in told
