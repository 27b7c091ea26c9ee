"""`sleuth run` on a program that crashes: its own exit status and traceback stay, and the report follows them."""

from __future__ import annotations

from collections.abc import Callable

CRASHING = """
import torch
from torch import nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(5):
    x = torch.randn(3, 4 if step < 3 else 5)
    optimizer.zero_grad()
    {step}
    optimizer.step()
"""


def test_the_crash_is_explained_and_the_program_ends_as_it_would(run_script: Callable) -> None:
    ran = run_script(CRASHING.format(step="model(x).pow(2).mean().backward()"))
    assert ran.status == 1
    assert ran.stderr.count("RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x5 and 4x2)") == 1
    assert "nothing found" not in ran.stderr
    assert (ran.only["diagnosis"], ran.only["step"], ran.only["place"]["line"]) == ("linear-size-mismatch", 3, 8)
    assert ran.evidence("x") == "(3, 5) float32"


def test_it_can_be_silenced_by_its_name(run_script: Callable) -> None:
    source = CRASHING.format(step="model(x).pow(2).mean().backward()")
    assert run_script(source, options=("--ignore", "linear-size-mismatch")).findings == []


def test_an_error_of_the_programs_own_stays_a_line_at_the_end(run_script: Callable) -> None:
    ran = run_script(CRASHING.format(step="assert x.shape[1] == 4, 'four, please'; model(x).sum().backward()"))
    assert ran.status == 1
    assert ran.findings == []
    assert "raised AssertionError" in ran.stderr
