"""The door to the five voices."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from sleuth.findings import Report
from sleuth.report import FORMATS, render


@pytest.mark.parametrize("voice", FORMATS)
def test_every_format_renders_and_ends_without_a_newline(report: Report, voice: str) -> None:
    text = render(report, voice)
    assert text
    assert not text.endswith("\n")


def test_an_unknown_format_is_refused_by_name(report: Report) -> None:
    with pytest.raises(
        ValueError, match="no report format 'xml'; choose one of terminal, concise, json, sarif, github"
    ):
        render(report, "xml")


def test_json_is_exactly_the_report(report: Report) -> None:
    assert json.loads(render(report, "json")) == report.to_json()
    assert render(report, "json") == json.dumps(report.to_json(), indent=2)


@pytest.mark.parametrize("voice", ["concise", "json", "sarif", "github"])
def test_only_the_terminal_needs_rich(voice: str) -> None:
    program = (
        "import sys; from sleuth.findings import Report; from sleuth.report import render; "
        f"render(Report('run', 'a.py'), {voice!r}); sys.exit('rich' in sys.modules)"
    )
    paths = os.pathsep.join(filter(None, sys.path))
    assert subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": paths}).returncode == 0
