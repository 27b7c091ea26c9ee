"""A real kernel: findings name cell and line, as a page; a healthy cell gets one line, and no output is empty."""

from __future__ import annotations

from typing import Any

import nbclient
import nbformat
import pytest

SETUP = """
import torch, sleuth
from torch import nn

x, y = torch.randn(32, 4), torch.arange(32) % 3
"""
MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x).abs() * 0

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
BUG = """
with sleuth.watch() as seen:
    for step in range(5):
        optimizer.zero_grad()
        loss = -torch.log(net(x)).mean()
        loss.backward()
        optimizer.step()
"""
SILENCED = "net = Net()\n" + BUG.replace("mean()", "mean()  # sleuth: ignore[log-of-zero]")
HEALTHY = """
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with sleuth.watch():
    for step in range(5):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
REHEARSED = """
def product(x):
    return x @ torch.ones(3, 4)

sleuth.dry(product, x)
"""
CELLS = [text.strip() for text in (SETUP, MODEL, BUG, HEALTHY, "seen", REHEARSED, SILENCED)]


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    """What each cell gave. Cell 1 is named `[1]` on the page, so the list begins with an empty place."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nbclient.NotebookClient(notebook, timeout=110, kernel_name="python3").execute()
    return [[], *(cell.outputs for cell in notebook.cells)]


def test_a_finding_names_the_cell_its_line_and_the_source(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[3]
    text = shown.data["text/plain"]
    assert "cell 3, line 4" in text
    assert "4 |         loss = -torch.log(net(x)).mean()" in text
    assert "cell 2, line 7" in text
    assert "ipykernel" not in str(shown)


def test_it_is_a_page_with_the_line_marked_and_no_script(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[3]
    page = shown.data["text/html"]
    assert "<mark>torch.log(net(x))</mark>" in page
    assert "cell 3, line 4" in page
    assert "<script" not in page


def test_where_all_is_well_there_is_one_line(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[4]
    assert shown.text == "sleuth: nothing found in 5 steps\n"


def test_a_watch_and_a_report_as_last_value_are_shown_in_full(outputs: list[list[Any]]) -> None:
    (again,) = outputs[5]
    assert again.data["text/html"] == outputs[3][0].data["text/html"]
    (rehearsed,) = outputs[6]
    assert "cell 6, line 2" in rehearsed.data["text/plain"]
    assert "<mark>x @ torch.ones(3, 4)</mark>" in rehearsed.data["text/html"]


def test_a_comment_in_the_cell_silences(outputs: list[list[Any]]) -> None:
    assert "error[log-of-zero]" not in str(outputs[7])


def test_no_output_is_empty(outputs: list[list[Any]]) -> None:
    for cell in outputs:
        for output in cell:
            assert output.get("text", "").strip() or all(part.strip() for part in output.data.values())
