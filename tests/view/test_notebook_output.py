"""A report in a notebook's cell, in a real browser: on a phone, and with names that would run as a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report
from sleuth.report import notebook_output

NASTY = "<script>document.title = 'taken over'</script>"


@pytest.fixture
def output(tmp_path: Path) -> str:
    (tmp_path / "model.py").write_text(f"x = 1\ny = '{NASTY}' + z\n", encoding="utf-8")
    place = Place("model.py", 2, 1, 2, "y = ")
    finding = Finding(
        "log-of-zero", NASTY, "certain", "error", "training-anomaly", "invalid-range", "model-training", "nan", place,
        evidence=(Evidence(NASTY, "n" * 300),), chain=(Link(NASTY, place),),
        fixes=(Fix(NASTY, (Edit("model.py", 1, 5, 1, 6, "2"),), verified=True),),
    )  # fmt: skip
    path = tmp_path / "cell.html"
    path.write_text(notebook_output.html(Report("run", "x", (finding,)), tmp_path), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_of_the_cell(output: str, look: Callable[..., Any], width: int) -> None:
    seen = look(viewport={"width": width, "height": 700}).page
    seen.goto(output)
    assert seen.evaluate("document.documentElement.scrollWidth") <= width


def test_the_fix_stands_beside_the_line_where_there_is_room(output: str, look: Callable[..., Any]) -> None:
    seen = look().page
    seen.goto(output)
    line, fix = seen.locator(".code").bounding_box(), seen.locator(".diff").bounding_box()
    assert fix["x"] > line["x"] + line["width"]
    assert seen.locator("mark").inner_text() == "y ="
    assert seen.locator(".diff .added").inner_text() == "+x = 2"


def test_names_are_shown_and_never_run(output: str, look: Callable[..., Any]) -> None:
    seen = look().page
    seen.goto(output)
    assert "taken over" not in seen.title()
    assert NASTY in seen.locator("h3").inner_text()
