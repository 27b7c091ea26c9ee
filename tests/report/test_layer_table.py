"""The table of layers on paper of any width, and as a page that is safe whatever a layer is called."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from sleuth.amounts import in_bytes, in_thousands
from sleuth.report import layer_table

MEMORY = {
    "devices": {
        "cuda:0": {
            "peak": 3 << 30,
            "kinds": {"weights": 1 << 30, "gradients": 0, "activations": 2 << 30},
        }
    },
    "parameters": 25_557_032,
    "trainable": 25_557_032,
    "flops": 777_570_484_224,
    "steps": 2,
}


def row(name: str, kind: str, depth: int, **more: Any) -> dict[str, Any]:
    usual = {
        "leaf": depth > 0,
        "again": False,
        "input": [[32, 3, 224, 224]],
        "output": [[32, 64, 112, 112]],
        "parameters": 9_408,
        "flops": 7_552_892_928,
        "activations": 102_760_448,
        "device": "cuda:0",
        "dtype": "float32",
    }
    return {"name": name, "kind": kind, "depth": depth, **usual, **more}


def table(*rows: dict[str, Any], left_off: int = 0) -> dict[str, Any]:
    model = {"kind": "ResNet", "training": True, "parameters": 25_557_032, "rows": list(rows), "left off": left_off}
    return {"models": [model]}


ROWS = (row("", "ResNet", 0), row("layer1.0.conv1", "Conv2d", 2), row("fc", "Linear", 1, again=True))


def test_the_whole_table_on_wide_paper() -> None:
    told = layer_table.text(table(*ROWS), MEMORY, 120, False)
    assert "ResNet: its first training forward, 25,557,032 parameters on cuda:0, float32" in told
    conv = next(line for line in told.splitlines() if "conv1 Conv2d" in line)
    assert conv.split() == "conv1 Conv2d 32x3x224x224 32x64x112x112 9,408 7.55 G 98 MB".split()
    assert conv.startswith("    conv1")
    assert "again" in next(line for line in told.splitlines() if "fc Linear" in line)
    assert "one training step: 778 G FLOPs; 25,557,032 parameters are trained" in told
    assert "cuda:0 holds 3 GB at its peak: weights 1 GB, activations 2 GB" in told


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_longer_than_the_paper(width: int, colour: bool) -> None:
    long = row("a." + "very_" * 30 + "long_name", "Layer", 4, input=[[8, 1024, 768]] * 2 + [[8, 1024]])
    told = re.sub(r"\x1b\[[0-9;]*m", "", layer_table.text(table(*ROWS, long), MEMORY, width, colour))
    assert max(map(len, told.splitlines())) <= max(width, 40)
    assert "output" in told


def test_alike_tensors_are_told_together() -> None:
    told = layer_table.text(table(row("", "Attention", 0, input=[[8, 5, 4]] * 3)), None, 120, False)
    assert "3 of 8x5x4" in told


def test_what_differs_between_layers_is_a_column() -> None:
    told = layer_table.text(table(row("", "A", 0), row("b", "B", 1, dtype="bfloat16")), None, 120, False)
    assert "dtype" in told
    assert "bfloat16" in told


def test_a_layer_that_raised_and_rows_left_off_are_said() -> None:
    raised = row("fc", "Linear", 1, output=None, flops=None, activations=None, device=None, dtype=None)
    for told in (
        layer_table.text(table(raised, left_off=1_234), MEMORY, 100, False),
        layer_table.html(table(raised, left_off=1_234), MEMORY),
    ):
        assert "raised" in told
        assert "and 1,234 more" in told


def test_names_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in layer_table.text(table(row("x\x1b[2J", "K\x07", 1)), None, 100, False)


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_the_page_has_no_script_and_fetches_nothing_whatever_layers_are_called() -> None:
    nasty = "</style><script>alert(1)</script><img src=x onerror='alert(1)'>\""
    page = layer_table.html(table(row(nasty, nasty, 1, device=nasty, dtype=nasty)), MEMORY)
    tags = Tags(page).seen
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in tags}
    assert not [
        name for _, attributes in tags for name in attributes if name.startswith("on") or name in ("src", "href")
    ]
    assert "default-src 'none'" in page
    assert "url(" not in page
    assert "@import" not in page


def test_the_page_says_what_the_paper_says() -> None:
    page = layer_table.html(table(*ROWS), MEMORY)
    for words in ("ResNet", "conv1", "Conv2d", "32×3×224×224", "9,408", "7.55 G", "98 MB", "778 G FLOPs", "again"):
        assert words in page


def test_a_page_without_models_or_memory() -> None:
    assert "No model was called" in layer_table.html({"models": []}, None)
    assert layer_table.text({"models": []}, None, 80, False) == ""


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 bytes"),
        (512, "512 bytes"),
        (1 << 20, "1 MB"),
        (1000 << 20, "0.977 GB"),
        (24 << 30, "24 GB"),
        (5e15, "4,547 TB"),
    ],
)
def test_bytes_are_said_in_the_unit_that_fits(size: float, said: str) -> None:
    assert in_bytes(size) == said


@pytest.mark.parametrize(
    ("number", "said"), [(999, "999"), (25_557_032, "25.6 M"), (1.5e12, "1.5 T"), (1e21, "1,000 E")]
)
def test_long_numbers_are_said_shortly(number: float, said: str) -> None:
    assert in_thousands(number) == said
