"""What is rehearsed again starts after the program's imports, wherever nothing else has happened before."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import rehearsed

from sleuth.dry import rehearsal
from sleuth.dry.loops import _imports

TRAINING = """
\"\"\"A training.\"\"\"
import os
import warnings
warnings.filterwarnings("ignore")
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
{head}
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if os.path.exists("model.pt"):
    model.load_state_dict(torch.load("model.pt")["model"])
for (x,) in DataLoader(TensorDataset(torch.randn(40, 4)), batch_size=8):
    loss = model(x{squeezed}).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save({saved}, "model.pt")
"""


@pytest.fixture
def from_nothing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The corners of the rehearsals that began with nothing done."""
    begun: list[str] = []

    class Child(rehearsal._Child):
        def __init__(self, scenario: rehearsal.Scenario, *args: object) -> None:
            begun.append(scenario.corner)
            super().__init__(scenario, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(rehearsal, "_Child", Child)
    return begun


CORNERS = ["resume", "batch_of_one"]
WELL = {"head": "", "squeezed": "", "saved": "{'model': model.state_dict()}"}


def test_the_corners_of_a_healthy_program_start_after_its_imports(tmp_path: Path, from_nothing: list[str]) -> None:
    done = rehearsed(tmp_path, TRAINING.format(**WELL), in_corners=CORNERS)
    assert from_nothing == [""]
    assert {name: outcome.how for name, outcome in done.corners.items()} == dict.fromkeys(CORNERS, "ended")
    assert done.report.findings == ()


def test_they_find_what_they_would_find(tmp_path: Path, from_nothing: list[str]) -> None:
    wrong = TRAINING.format(**{**WELL, "squeezed": ".view(8, 4)", "saved": "model.state_dict()"})
    done = rehearsed(tmp_path, wrong, in_corners=CORNERS)
    assert from_nothing == [""]
    assert [finding.place.line for finding in done.report.findings if finding.place] == [12]
    assert "finds its own checkpoint" in done.report.findings[0].title


def test_after_a_file_was_written_they_start_from_nothing(tmp_path: Path, from_nothing: list[str]) -> None:
    (tmp_path / "noting.py").write_text("open('noted.txt', 'w').write('imported')\n")
    done = rehearsed(tmp_path, TRAINING.format(**{**WELL, "head": "import noting"}), in_corners=CORNERS)
    assert from_nothing == ["", *CORNERS]
    assert list(done.corners) == CORNERS


def test_only_imports_and_settings_are_done_beforehand() -> None:
    import ast

    tried = "try:\n    import x\nexcept ImportError:\n    x = None\n"
    body = ast.parse(f"'doc'\nimport os\nos.environ['A'] = '1'\n{tried}y = f()\nimport z").body
    assert _imports(body) == 4
    assert _imports(ast.parse("data = open('x')\nimport os").body) == 0
