"""Loops end once they have shown what they do, and everything behind them is reached."""

from __future__ import annotations

import sysconfig
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rehearsing import assumptions, rehearsed

from sleuth import program
from sleuth.dry import loops
from sleuth.dry.scenario import Scenario
from sleuth.frameworks.patches import Patches

HEAD = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x=torch.ones(8, 4)):
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
seen = []
"""


def seen_by(tmp_path: Path, loop: str, wanted: object) -> dict[int, str]:
    """Runs the loop and asserts, in the program itself, what it saw; a wrong answer would be a crash."""
    done = rehearsed(tmp_path, f"{HEAD}{loop}\nif seen != {wanted!r}:\n    torch.ones(2) + torch.ones(3)\n")
    assert done.plain.how == "ended", (done.plain.how, done.plain.notes, done.report.findings)
    return assumptions(done)


def test_a_loop_that_trains_shows_its_first_rounds_and_its_last(tmp_path: Path) -> None:
    told = seen_by(tmp_path, "for epoch in range(1000):\n    step()\n    seen.append(epoch)", [0, 1, 999])
    assert list(told.values()) == ["loop: 2 rounds and the last of 1,000"]


def test_a_short_loop_runs_whole(tmp_path: Path) -> None:
    assert not seen_by(tmp_path, "for epoch in range(2):\n    step()\n    seen.append(epoch)", [0, 1])


def test_a_loop_that_does_not_train_runs_whole(tmp_path: Path) -> None:
    assert not seen_by(tmp_path, "for number in range(500):\n    seen.append(number)", list(range(500)))


def test_an_iterator_is_left_after_its_first_rounds(tmp_path: Path) -> None:
    told = seen_by(tmp_path, "for n in (k for k in range(100)):\n    step()\n    seen.append(n)", [0, 1])
    assert list(told.values()) == ["loop: 2 rounds"]


def test_a_while_loop_ends(tmp_path: Path) -> None:
    loop = "n = 0\nwhile n < 10 ** 9:\n    step()\n    n += 1\nseen = n < 5"
    assert list(seen_by(tmp_path, loop, True).values()) == ["loop: 2 rounds"]


def test_a_while_loop_that_is_left_by_break_is_left(tmp_path: Path) -> None:
    seen_by(tmp_path, "while True:\n    step()\n    if len(seen) > 10 ** 9:\n        break\n", [])


def test_a_loop_that_never_ends_ends_the_rehearsal(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, f"{HEAD}while True:\n    step()\n")
    assert done.plain.how == "ended"
    assert done.plain.notes["ended"]["acts"]["step"] == 2


def test_a_generator_is_not_cut_by_what_its_user_trains(tmp_path: Path) -> None:
    loop = """
def batches():
    while True:
        for n in range(3):
            yield n
source = batches()
for _ in range(7):
    seen.append(next(source))
    if len(seen) < 3:
        step()
"""
    seen_by(tmp_path, loop, [0, 1, 2])


def test_gradients_may_be_gathered_over_rounds(tmp_path: Path) -> None:
    loop = """
for n in range(100):
    model(torch.ones(8, 4)).sum().backward()
    if (n + 1) % 4 == 0:
        optimizer.step()
        seen.append(n)
"""
    seen_by(tmp_path, loop, [3, 7, 99])


def test_a_traceback_points_where_it_would_without_us(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "import torch\nfor n in range(3):\n    torch.ones(2) + torch.ones(3)\n")
    (finding,) = done.report.findings
    assert finding.place is not None
    assert (finding.place.line, finding.place.code) == (3, "torch.ones(2) + torch.ones(3)")


def test_modules_of_the_program_have_their_loops_ended_too(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text("def fit(step):\n    for epoch in range(10 ** 9):\n        step()\n")
    done = rehearsed(tmp_path, f"{HEAD}from engine import fit\nfit(step)\n")
    assert done.plain.how == "ended"
    assert done.plain.notes["ended"]["acts"]["step"] == 3
    (told,) = done.plain.assumptions
    assert told.place is not None
    assert told.place.path.endswith("engine.py")


def test_python_is_asked_for_its_own_folders_before_imports_pass_by_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_code, plain_paths, passed = SourceFileLoader.get_code, sysconfig.get_paths, []

    def paths(*args: Any, **kwargs: Any) -> Any:
        passed.append(SourceFileLoader.get_code is plain_code)
        return plain_paths(*args, **kwargs)

    monkeypatch.setattr(sysconfig, "get_paths", paths)
    program.is_users.cache_clear()
    program._library_folders.cache_clear()
    (tmp_path / "train.py").write_text("for n in range(3):\n    pass\n", encoding="utf-8")
    stage: Any = SimpleNamespace(patches=Patches(), scenario=Scenario("train.py"))
    loops.instrumented(program.find(str(tmp_path / "train.py"), [], False), stage)
    stage.patches.undo()
    assert passed
    assert all(passed)
