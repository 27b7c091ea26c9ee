"""What a run shows besides its report: TensorBoard's event files, and a line on how it goes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TRAINING = """
import sys, time
import torch
from torch import nn
{imports}
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
for step in {steps}:
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
    time.sleep({pause})
    if step == 20:
        print("a line of the program")
"""


def program(steps: str = "range(60)", rate: float = 0.01, pause: float = 0.0, imports: str = "") -> str:
    return TRAINING.format(steps=steps, rate=rate, pause=pause, imports=imports)


def on_a_terminal(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """All that a command shows on a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=its, stderr=its, stdin=its)
    os.close(its)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    process.wait(timeout=600)
    os.close(ours)
    return shown.decode()


def test_event_files_hold_the_curves_and_the_findings(run_script: Callable, tmp_path: Path) -> None:
    options = ("--tensorboard", "events", "--expect", "the loss stays below 1e-9")
    run_script(program(), options=options, record=True)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "events"))
    events.Reload()
    assert {"loss", "gradient norm", "learning rate", "weight norm/0.weight"} <= set(events.Tags()["scalars"])
    assert {round(one.value, 6) for one in events.Scalars("learning rate")} == {0.01}
    assert events.Scalars("loss")[-1].step == 59
    assert "sleuth/broken-expectation" in events.Tags()["tensors"]


def test_event_files_need_the_record(run_script: Callable) -> None:
    ran = run_script(program(), options=("--tensorboard", "events"))
    assert ran.status == 2
    assert ran.stderr.count("\n") == 1


def test_in_a_log_the_status_is_silent_for_a_short_run(run_script: Callable) -> None:
    ran = run_script(program(), options=("--status",))
    assert "steps/s" not in ran.stderr


def test_on_a_terminal_the_status_makes_room_for_the_program(
    script: Callable, environment: dict[str, str], tmp_path: Path
) -> None:
    script(program(pause=0.03))
    command = [sys.executable, "-m", "sleuth", "run", "--no-record", "--status", "train.py"]
    shown = on_a_terminal(command, tmp_path, environment)
    assert re.search(r"sleuth: step \d+, loss [\d.]+, [\d.]+ steps/s, nothing found", shown)
    # The program's line stands alone, and no status is left on the screen.
    assert "a line of the program" in [line.split("\x1b[2K")[-1].strip() for line in shown.split("\n")]
    last = shown.rstrip().split("\n")[-1].split("\x1b[2K")[-1]
    assert last.startswith("sleuth: nothing found in 60 steps")


def test_with_progress_bars_the_status_is_silent_and_findings_stand_above_them(
    script: Callable, environment: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("tqdm")
    script(program(steps="tqdm(range(60))", pause=0.03, imports="from tqdm import tqdm"))
    command = [sys.executable, "-m", "sleuth", "run", "--no-record", "--status"]
    shown = on_a_terminal([*command, "--expect", "the loss stays below 1e-9", "train.py"], tmp_path, environment)
    assert "steps/s" not in shown
    found = [line for line in shown.split("\n") if "[broken-expectation]; more when" in line]
    assert len(found) == 1
    assert found[0].split("\r")[-2 if found[0].endswith("\r") else -1].startswith("sleuth: ")
