"""The page of a comparison in a real browser: on a phone, in the dark, and with names that would run as a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.findings import Finding, Fix, Link, Place
from sleuth.report import compare_page

NASTY = "<script>document.title = 'taken over'</script>"


def step(number: int) -> dict[str, Any]:
    error = 1e-7 if number < 20 else 1e-3 * number
    return {
        "node": f"linear_{number}",
        "shown": f"blocks.{number}.mlp.{NASTY} (linear)",
        "place": {"path": "model.py", "line": 10 + number},
        "target": "val_" + "x" * 60,
        "target_place": {"path": "port.py", "line": 5 + number},
        "error": error if number != 39 else "inf",
        "noise": 1e-7,
        "score": error / 1e-7 if number != 39 else "inf",
    }


@pytest.fixture
def page(tmp_path: Path) -> str:
    side = {"title": NASTY, "runtime": "PyTorch"}
    comparison = {
        "same": False,
        "limit": 6.0,
        "reference": side,
        "target": side,
        "samples": [{"label": "random", "score": 4e4}, {"label": "zeros", "score": None}],
        "worst": "random",
        "steps": [step(number) for number in range(40)],
        "partings": [{"node": "linear_20"}],
    }
    finding = Finding(
        "models-part", NASTY, "certain", "error", "model-migration", "inter-api", "model-prediction",
        "incorrect-functionality", Place("model.py", 3), chain=(Link(NASTY),), fixes=(Fix(NASTY),),
    )  # fmt: skip
    rows = [
        {"name": "onnx", "verdict": "differs", "score": 12.0, "argmax": 0.5, "latency_ratio": 2.0, "bytes": 1 << 20,
         "left_in_float": [NASTY]},
        {"name": "cuda", "verdict": "not made", "why_not": NASTY},
    ]  # fmt: skip
    path = tmp_path / "comparison.html"
    path.write_text(compare_page.html("two models", [comparison], [finding], rows), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out_of_the_window(page: str, look: Callable[..., Any], width: int) -> None:
    seen = look(viewport={"width": width, "height": 700}).page
    seen.goto(page)
    assert seen.evaluate("document.documentElement.scrollWidth") <= width


def test_the_first_parting_is_marked_in_the_drawing_and_the_table(page: str, look: Callable[..., Any]) -> None:
    seen = look().page
    seen.goto(page)
    assert "blocks.20" in (seen.locator("svg .mark").text_content() or "")
    assert seen.locator("tr.first").count() == 1
    assert seen.locator("svg .dot.off").count() == 20


def test_names_are_shown_and_never_run(page: str, look: Callable[..., Any]) -> None:
    seen = look().page
    seen.goto(page)
    assert seen.title() == "two models"
    assert NASTY in seen.locator(".story h3").inner_text()


def test_rows_that_agree_or_carry_a_difference_on_are_folded(page: str, look: Callable[..., Any]) -> None:
    seen = look().page
    seen.goto(page)
    agreeing, carrying = seen.locator("details").all()
    assert (agreeing.locator("summary").text_content() or "").startswith("20 values agree within the noise: blocks.0.")
    assert (carrying.locator("summary").text_content() or "").startswith("16 values carry it on: blocks.24.")
    assert agreeing.locator("tbody tr").count() == 20
    assert not agreeing.locator("tbody tr").first.is_visible()
    assert seen.locator("tr.first").is_visible()


def test_both_sides_lines_are_named(page: str, look: Callable[..., Any]) -> None:
    seen = look().page
    seen.goto(page)
    row = seen.locator("tr.first")
    assert "model.py:30" in row.inner_text()
    assert "port.py:25" in row.inner_text()
