"""Workflow commands, escaped as GitHub's own toolkit does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sleuth.findings import Evidence, Finding, Fix, Link, Place, Report
from sleuth.report import render


@pytest.fixture(autouse=True)
def outside_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


def annotate(*findings: Finding, root: Path | None = None) -> str:
    return render(Report("check", "train.py", findings), "github", root=root)


def test_a_finding_is_one_annotation_on_its_line(log_of_zero: Finding) -> None:
    assert annotate(log_of_zero) == (
        "::error file=train.py,line=11,col=13,endLine=11,title=log-of-zero (certain)::"
        "log of a value that reached 0, at step 412%0A"
        "input minimum: 0%0Aexact zeros: 3%0Ashape: 1024, 10%0A"
        "model.py:6:16: softmax gave 3 exact zeros%0A"
        "train.py:11:13: its log is -inf, and so is the loss%0A"
        "Try: keep the probability away from 0 (verified)%0A"
        "Try: give the logits to F.cross_entropy (not tried)%0A"
        "More: sleuth explain log-of-zero"
    )


def test_a_note_is_a_notice_and_certainties_come_first(report: Report) -> None:
    commands = [line.split(" ")[0] for line in render(report, "github").split("\n")]
    assert commands == ["::error", "::notice"]


def test_special_letters_are_escaped_once_each(make: Any) -> None:
    finding = make(title="100% a:b,c", place=Place("a,b:c%/d.py", 1))
    assert annotate(finding) == (
        "::error file=a%2Cb%3Ac%25/d.py,line=1,endLine=1,title=log-of-zero (certain)::"
        "100%25 a:b,c%0AMore: sleuth explain log-of-zero"
    )


def test_text_of_the_program_cannot_start_a_command_of_its_own(make: Any) -> None:
    evil = "x\r\n::set-env name=A::b\n\x1b[31m"
    finding = make(
        evil,
        title=evil,
        place=Place(evil, 1),
        evidence=(Evidence(evil, evil),),
        chain=(Link(evil, Place(evil, 2)),),
        fixes=(Fix(evil),),
    )
    text = annotate(finding)
    assert "\n" not in text
    assert "\r" not in text
    assert "\x1b" not in text


def test_a_finding_without_a_place_is_annotated_too(make: Any) -> None:
    assert annotate(make()).startswith("::error title=log-of-zero (certain)::log of a value")


def test_paths_start_at_the_top_of_the_checkout(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    (tmp_path / "examples").mkdir()
    finding = make(place=Place("train.py", 3))
    assert "file=examples/train.py,line=3" in annotate(finding, root=tmp_path / "examples")
    assert "file=train.py,line=3" in annotate(finding, root=tmp_path.parent)


def test_nothing_found_is_no_annotation() -> None:
    assert annotate() == ""
