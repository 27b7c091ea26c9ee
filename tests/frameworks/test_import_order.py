"""Libraries that look torch up before the program imports it, and launchers that start it elsewhere, hide nothing."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

LOOP = """
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(5):
    loss = (w - 2).log().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained")
"""
NOTEBOOK = '''
import nbclient, nbformat

cells = [nbformat.v4.new_code_cell(text) for text in ("import torch", """{loop}""")]
nbclient.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=110, kernel_name="python3").execute()
'''


@pytest.mark.parametrize("library", ["accelerate", "datasets", "diffusers", "evaluate", "transformers"])
def test_a_library_imported_first_hides_nothing(library: str, run_alone: Any) -> None:
    ran = run_alone(f"import {library}\n{LOOP}", "-m", "sleuth", "run", "--no-record")
    assert "log-of-negative" in ran.stderr
    assert ran.status == 1


@pytest.mark.parametrize(
    "launcher",
    [
        ("-m", "torch.distributed.run", "--nproc-per-node", "1"),
        ("torchrun", "--nproc-per-node", "2"),
        ("accelerate", "launch", "--cpu", "--num_processes", "1"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_a_launcher_starts_is_watched(launcher: tuple[str, ...], run_alone: Any) -> None:
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    ran = run_alone(LOOP, "-m", "sleuth", "run", "--no-record", *launcher, environment={"PATH": path})
    assert "log-of-negative" in ran.stderr


def test_a_notebook_that_the_program_runs_is_watched(run_alone: Any) -> None:
    ran = run_alone(NOTEBOOK.format(loop=LOOP), "-m", "sleuth", "run", "--no-record")
    assert "log-of-negative" in ran.stderr
