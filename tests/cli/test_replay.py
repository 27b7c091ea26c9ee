"""`sleuth replay` in real processes: from the run that fails to the verdict of another process."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sleuth import options
from sleuth.cli import load
from sleuth.cli.parser import parser_of

pytest.importorskip("torch")

SOURCE = Path(__file__).parents[2] / "src"
SCRIPT = """\
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
print("training with", sys.argv[1:])
x = torch.rand(64, 4) + 0.1
x[37] = 0.0
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
try:
    for (xb,) in DataLoader(TensorDataset(x), batch_size=8, shuffle=True):
        loss = model(torch.log(xb)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
finally:
    open("saved.txt", "a").write("once more")
"""


def sleuth(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sleuth", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run has failed."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "train.py").write_text(SCRIPT)
    done = sleuth(folder, "run", "train.py", "--lr", "3")
    assert "sleuth replay .sleuth" in done.stderr, done.stderr
    return folder


def bundle_of(folder: Path) -> Path:
    return next(folder.glob(".sleuth/runs/*/crash.sleuth"))


def verdict_of(done: subprocess.CompletedProcess[str]) -> Any:
    evidence = json.loads(done.stdout)["findings"][0]["evidence"]
    return {item["name"]: item["value"] for item in evidence}["verdict"]


def test_a_bundle_replays_in_other_processes_to_the_same_verdict(ran: Path) -> None:
    (ran / "saved.txt").unlink()
    first = sleuth(ran, "replay", "--format", "json")
    second = sleuth(ran, "replay", str(bundle_of(ran)), "--format", "json", "--verbose")
    assert (first.returncode, second.returncode) == (1, 1), first.stderr
    assert verdict_of(first) == verdict_of(second) == "data"
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert json.loads(first.stdout)["command"] == "replay"
    assert "your program is run again for this" in first.stderr
    assert "python train.py --lr 3" in first.stderr
    assert "training with" not in first.stderr
    assert "  | training with ['--lr', '3']" in second.stderr
    assert not (ran / "saved.txt").exists(), "a replay ends before the program can save anything"


def test_a_bundle_from_elsewhere_does_not_choose_what_is_run(ran: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("print(", "open('ran', 'w'); print("))
    (tmp_path / "crash.sleuth").write_bytes(bundle_of(ran).read_bytes())
    refused = sleuth(tmp_path, "replay", "crash.sleuth")
    assert refused.returncode == 2
    assert "it was recorded with --program 'train.py --lr 3'" in refused.stderr
    assert not (tmp_path / "ran").exists()
    done = sleuth(tmp_path, "replay", "crash.sleuth", "--program", "train.py --lr 3")
    assert done.returncode == 1, done.stderr
    assert "sleuth: data: " in done.stderr
    assert (tmp_path / "ran").exists()
    assert "changed since" in done.stdout


class Canary:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("canary",))


@pytest.mark.parametrize("attack", ["extra pickle", "pickle for a tensor", "torch.save", "truncated", "nothing at all"])
def test_a_malicious_bundle_executes_nothing_and_is_refused_in_one_line(ran: Path, tmp_path: Path, attack: str) -> None:
    import torch

    path = tmp_path / "crash.sleuth"
    path.write_bytes(bundle_of(ran).read_bytes())
    if attack == "extra pickle":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("data.pkl", pickle.dumps(Canary()))
    elif attack == "pickle for a tensor":
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, pickle.dumps(Canary()) if name.startswith("tensors/") else data)
    elif attack == "torch.save":
        torch.save(Canary(), path)
    elif attack == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.unlink()
    done = sleuth(tmp_path, "replay", "crash.sleuth", "--program", "train.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("sleuth: crash.sleuth")
    assert not (tmp_path / "canary").exists()


def test_without_a_bundle_it_says_how_to_get_one(tmp_path: Path) -> None:
    done = sleuth(tmp_path, "replay")
    assert (done.returncode, done.stderr) == (
        2,
        "sleuth: no bundle is kept in .sleuth/runs; `sleuth run` keeps one when a step fails\n",
    )


def test_bundles_can_be_switched_off_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = sleuth(tmp_path, "run", "--no-bundle", "train.py")
    assert "sleuth replay" not in done.stderr
    assert list(tmp_path.glob(".sleuth/runs/*/record.jsonl"))
    assert not list(tmp_path.glob(".sleuth/runs/*/crash*"))


@pytest.mark.parametrize(("setting", "wanted"), [("false", False), ("true", True)])
def test_bundles_can_be_switched_off_in_pyproject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, wanted: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.sleuth.run]\nbundle = {setting}\n")
    monkeypatch.chdir(tmp_path)
    args = parser_of("run", load("run")).parse_args(["train.py"])
    assert options.resolve(args, "run").bundle is wanted
