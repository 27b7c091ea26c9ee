"""The page of layers in a real browser: on a phone, in the dark, and with names that would run as a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.report import layer_table

NASTY = "<script>document.title = 'taken over'</script>"


@pytest.fixture
def page(tmp_path: Path) -> str:
    rows = [
        {
            "name": f"encoder.{NASTY}.{number}",
            "kind": "TransformerEncoderLayer",
            "depth": number % 4,
            "leaf": bool(number % 4),
            "again": False,
            "input": [[8, 1024, 768]],
            "output": [[8, 1024, 768]],
            "parameters": 7_087_872,
            "flops": 10**12,
            "activations": number << 20,
            "device": "cuda:0",
            "dtype": "float32",
        }
        for number in range(40)
    ]
    model = {"kind": NASTY, "training": True, "parameters": 1, "rows": rows, "left off": 0}
    kinds = {"weights": 10, "gradients": 20, "activations": 70}
    memory = {
        "devices": {"cuda:0": {"peak": 100, "kinds": kinds}},
        "parameters": 1,
        "trainable": 1,
        "flops": 1,
        "steps": 1,
    }
    path = tmp_path / "layers.html"
    path.write_text(layer_table.html({"models": [model]}, memory), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out_of_the_window(page: str, look: Callable[..., Any], width: int) -> None:
    window = look(viewport={"width": width, "height": 800}).page
    window.goto(page)
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    assert window.locator("tbody tr").count() == 40
    assert window.title() == "Layers and memory"


def test_a_phone_tells_what_each_number_is(page: str, look: Callable[..., Any]) -> None:
    window = look(viewport={"width": 390, "height": 800}).page
    window.goto(page)
    label = window.evaluate("getComputedStyle(document.querySelectorAll('tbody td')[1], '::before').content")
    assert "in" in label


def test_it_is_dark_where_the_reader_wants_it(page: str, look: Callable[..., Any]) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        window = look(color_scheme=scheme).page
        window.goto(page)
        colours.add(window.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
