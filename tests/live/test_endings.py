"""How a run can end, and what is left to read afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

POISONED = """
import torch
torch.manual_seed(0)
w = torch.nn.Parameter(torch.tensor([1.0]))
optimizer = torch.optim.SGD([w], 0.1, momentum=0.5)
for step in range(30):
    x = torch.ones(1) if step % 10 != 4 else torch.zeros(1)
    loss = (w * x - torch.log(x){comment}).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done", step, bool(torch.isfinite(w).all()))
"""
ENDLESS = """
import torch, time
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
print("ready", flush=True)
while True:
    loss = (model(torch.randn(8, 4)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.001)
"""


def start(path: Path, environment: dict[str, str], *options: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "run", *options, path.name],
        cwd=path.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    return process


def test_stops_at_the_verdict_by_default(run_script: Callable) -> None:
    ran = run_script(POISONED.format(comment=""))
    assert ran.status == 1
    assert ran.only["step"] == 4
    assert "done" not in ran.stdout


def test_keep_going_skips_the_poisoned_updates_and_trains_on(run_script: Callable) -> None:
    ran = run_script(POISONED.format(comment=""), options=("--keep-going",))
    assert ran.status == 1
    assert ran.stdout == "done 29 True\n"
    assert {finding["diagnosis"] for finding in ran.findings} == {"log-of-zero"}
    assert "poisoned update" in ran.stderr


def test_a_name_given_to_ignore_is_silent_and_the_program_runs_to_its_end(run_script: Callable) -> None:
    ran = run_script(POISONED.format(comment=""), options=("--ignore", "log-of-zero"))
    assert ran.status == 0
    assert ran.findings == []
    assert ran.stdout.startswith("done 29")


def test_a_comment_on_the_line_silences_it(run_script: Callable) -> None:
    source = POISONED.replace(".sum()\n", ".sum()  # sleuth: ignore[log-of-zero]\n").format(comment="")
    ran = run_script(source)
    assert ran.status == 0
    assert ran.findings == []


def test_a_comment_for_another_diagnosis_does_not(run_script: Callable) -> None:
    source = POISONED.replace(".sum()\n", ".sum()  # sleuth: ignore[division-by-zero]\n").format(comment="")
    assert run_script(source).only["diagnosis"] == "log-of-zero"


def test_a_killed_run_leaves_a_record_that_can_be_read(script: Callable, environment: dict[str, str]) -> None:
    path = script(ENDLESS)
    process = start(path, environment)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=600)
    shown = subprocess.run(
        [sys.executable, "-m", "sleuth", "report"],
        cwd=path.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert shown.returncode == 0
    assert "killed or still running" in shown.stdout + shown.stderr
    rows = next((path.parent / ".sleuth" / "runs").glob("*/record.jsonl")).read_text().splitlines()
    steps = [json.loads(row) for row in rows if '"step"' in row]
    assert len(steps) >= 3
    assert [row["step"] for row in steps] == sorted({row["step"] for row in steps})


def test_the_record_of_a_stopped_run_holds_its_finding(
    run_script: Callable, environment: dict[str, str], tmp_path: Path
) -> None:
    run_script(POISONED.format(comment=""), record=True)
    shown = subprocess.run(
        [sys.executable, "-m", "sleuth", "report", "--format", "json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert json.loads(shown.stdout)["findings"][0]["diagnosis"] == "log-of-zero"


def test_ctrl_c_ends_program_and_report_without_a_traceback(script: Callable, environment: dict[str, str]) -> None:
    process = start(script(ENDLESS), environment, "--no-record")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "interrupted" in stderr


@pytest.mark.parametrize(
    ("name", "source", "says"),
    [
        ("missing.py", None, "missing.py: no such file"),
        ("broken.py", "x = (\n", "broken.py:1"),
        ("binary.py", b"\x00\xff\xfe", "binary.py cannot be read as Python"),
    ],
)
def test_a_script_that_cannot_start_gets_one_clear_line(
    name: str, source: str | bytes | None, says: str, tmp_path: Path, sleuth_run: Callable
) -> None:
    if source is not None:
        (tmp_path / name).write_bytes(source if isinstance(source, bytes) else source.encode())
    ran = sleuth_run(name)
    assert ran.status == 2
    assert ran.stderr.startswith("sleuth: ")
    assert says in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_a_directory_is_refused(tmp_path: Path, sleuth_run: Callable) -> None:
    (tmp_path / "folder").mkdir()
    ran = sleuth_run("folder")
    assert ran.status == 2
    assert "folder is a directory" in ran.stderr


def test_an_unknown_module_is_refused(sleuth_run: Callable) -> None:
    ran = sleuth_run("-m", "no_such_package.train")
    assert ran.status == 2
    assert len(ran.stderr.strip().splitlines()) == 1


def test_a_program_that_raises_shows_its_own_traceback_only(run_script: Callable) -> None:
    ran = run_script("""
        import torch
        def work(x):
            x.sum().backward()
        work(torch.ones(3))
    """)
    assert ran.status == 1
    assert [finding["diagnosis"] for finding in ran.findings] == ["loss-without-graph"]
    assert "element 0 of tensors does not require grad" in ran.stderr
    assert f"sleuth{os.sep}" not in ran.stderr
    assert "line 4, in <module>" in ran.stderr
    assert "line 3, in work" in ran.stderr


@pytest.mark.parametrize(("code", "status"), [("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('no data')", 1)])
def test_the_programs_own_status_is_kept(code: str, status: int, run_script: Callable) -> None:
    ran = run_script(f"import sys\n{code}\n")
    assert ran.status == status
    assert ("no data" in ran.stderr) == (status == 1)


def test_a_bare_except_of_the_program_cannot_train_on_past_the_verdict(run_script: Callable) -> None:
    ran = run_script("""
        import torch
        w = torch.nn.Parameter(torch.tensor([1.0]))
        optimizer = torch.optim.SGD([w], 0.1)
        for step in range(10):
            try:
                loss = torch.log(w * 0).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            except Exception as error:
                print("swallowed", error)
    """)
    assert ran.only["diagnosis"] == "log-of-zero"
    assert "swallowed" not in ran.stdout
