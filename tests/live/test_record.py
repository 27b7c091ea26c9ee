"""The record of a run: readable at any moment, bounded, and no value of it dropped unsaid."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth import report
from sleuth.live import record as records
from sleuth.live.record import Record
from sleuth.view.data import Run
from sleuth.view.document import exported

KILLS = 50
# Forks a training for each kill, since importing torch fifty times over would take minutes.
KILLER = """
import os, signal, sys
import torch
from pathlib import Path
from sleuth import live, program
from sleuth.live import both, rules

rules.in_order()

for number in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        live.run(program.find("train.py", [str(number)]), record=Path(f"run{number}"))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, status
"""
# Is killed a moment after it has begun a random step, wherever it then is.
DOOMED = """
import os, random, signal, sys, threading
import torch
from torch import nn
chance = random.Random(int(sys.argv[1]))
last = chance.randrange(150)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(100_000):
    if step == last:
        threading.Timer(chance.uniform(0.0, 0.02), os.kill, (os.getpid(), signal.SIGKILL)).start()
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
"""
SHORT = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(40):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
"""


@pytest.fixture
def book(tmp_path: Path) -> Record:
    return Record(tmp_path, "train.py", ["--lr", "3"])


def values(folder: Path, name: str) -> list[tuple[int, float, float, float, int]]:
    """The rows of a value as (first step, mean, lowest, highest, number)."""
    found = []
    for row in records.rows(folder):
        told = row.get("v", {}).get(name)
        if told is not None:
            told = told if isinstance(told, list) else [told, told, told, 1]
            found.append((row["step"], *told))
    return found


def test_killed_fifty_times_every_record_can_be_read_and_its_report_drawn(
    script: Callable, environment: dict[str, str], tmp_path: Path
) -> None:
    script(DOOMED)
    subprocess.run(
        [sys.executable, "-c", KILLER, str(KILLS)],
        cwd=tmp_path, env=environment, check=True, timeout=600,
    )  # fmt: skip
    steps = []
    for number in range(KILLS):
        folder = records.newest(tmp_path / f"run{number}")
        story = records.read(folder)
        assert "killed or still running" in story.summary
        assert "train.py" in report.render(story.report, "json")
        seen = [row["step"] + row["steps"] for row in records.rows(folder) if row["row"] == "values"]
        assert seen == sorted(seen)
        steps.append(max(seen, default=0))
        assert "train.py" in exported(Run(folder).page())
    # The kills came at all times, and little of what was known by then is lost.
    assert max(steps) > 60
    assert len(set(steps)) > 10


def test_a_torn_last_row_is_left_out(book: Record) -> None:
    for step in range(100):
        book.values(step, {"loss": 1.0})
    book.end(0, "ended", 100)
    path = book.folder / "record.jsonl"
    whole = path.read_bytes()
    for cut in range(1, 80):
        path.write_bytes(whole[:-cut])
        rows = list(records.rows(book.folder))
        assert rows[0]["row"] == "start"
        assert all("row" in row for row in rows)


def test_what_shares_a_row_is_told_by_mean_lowest_highest_and_number(
    book: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SECONDS_BETWEEN_ROWS", 3600.0)
    book.values(0, {"loss": 7.0})
    for step in range(1, 5):
        book.values(step, {"loss": float(step)})
    book.end(0, "ended", 5)
    assert values(book.folder, "loss") == [(0, 7.0, 7.0, 7.0, 1), (1, 2.5, 1.0, 4.0, 4)]


def test_a_long_run_grows_with_its_logarithm_and_drops_nothing(book: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "SECONDS_BETWEEN_ROWS", 0.0)
    monkeypatch.setattr(records, "SECONDS_BETWEEN_LATEST", 3600.0)
    monkeypatch.setattr(records, "BYTES_BEFORE_THINNING", 10_000)
    sizes = []
    for step in range(64_000):
        book.values(step, {"loss": float(step % 1000)})
        if step + 1 in (4_000, 8_000, 16_000, 32_000, 64_000):
            sizes.append((book.folder / "record.jsonl").stat().st_size)
    book.end(0, "ended", 64_000)
    growth = [later - earlier for earlier, later in itertools.pairwise(sizes)]
    # Each doubling of the run adds about as much as the one before.
    assert max(growth) < 2 * min(growth)
    rows = values(book.folder, "loss")
    assert sum(row[4] for row in rows) == 64_000
    assert math.isclose(sum(row[1] * row[4] for row in rows), 64 * sum(range(1000)), rel_tol=1e-4)
    assert min(row[2] for row in rows) == 0.0
    assert max(row[3] for row in rows) == 999.0
    assert [row for row in records.rows(book.folder) if row["row"] == "thinned"]


def test_the_newest_values_are_on_disk_while_their_row_is_in_the_making(
    book: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SECONDS_BETWEEN_ROWS", 3600.0)
    monkeypatch.setattr(records, "SECONDS_BETWEEN_LATEST", 0.0)
    for step in range(10):
        book.values(step, {"loss": float(step)})
    assert records.latest(book.folder)["v"]["loss"] == 9.0
    assert values(book.folder, "loss")[-1] == (1, 5.0, 1.0, 9.0, 9)
    assert "step 9" in records.read(book.folder).summary


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_written_in_words(book: Record, bad: float) -> None:
    book.values(0, {"loss": bad})
    book.end(1, "ended", 1)
    text = (book.folder / "record.jsonl").read_text()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert rows[1]["v"]["loss"] == str(bad)


def test_a_forked_worker_writes_nothing(book: Record) -> None:
    child = os.fork()
    if child == 0:
        book.values(0, {"loss": 1.0})
        book.end(0, "ended", 1)
        os._exit(0)
    os.waitpid(child, 0)
    assert [row["row"] for row in records.rows(book.folder)] == ["start"]


def test_a_run_tells_its_curves_and_layers(run_script: Callable, tmp_path: Path) -> None:
    run_script(SHORT, record=True)
    names: set[Any] = set()
    for row in records.rows(records.newest(tmp_path / ".sleuth")):
        names |= set(row.get("v", {}))
    expected = {"loss", "gradient norm", "learning rate", "step seconds", "data seconds", "memory bytes"}
    expected |= {
        f"{kind}/{name}" for kind in ("gradient norm", "weight norm", "update ratio") for name in ("0.weight", "2.bias")
    }
    assert expected | {"dead share/0"} <= names


def test_waiting_for_a_loader_of_the_programs_own_is_time_for_data(run_script: Callable, tmp_path: Path) -> None:
    run_script(
        """
        import queue, threading, time
        import torch

        batches, wanted = queue.Queue(), threading.Semaphore(0)

        def load():
            while True:
                wanted.acquire()
                time.sleep(0.05)
                batches.put(torch.randn(8, 4))

        threading.Thread(target=load, daemon=True).start()
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(4):
            wanted.release()
            loss = model(batches.get()).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        record=True,
    )
    values = [row.get("v", {}) for row in records.rows(records.newest(tmp_path / ".sleuth"))]
    waited = [one["data seconds"] for one in values if "data seconds" in one]
    # The thread that trains is known from its first backward pass on.
    assert len(waited) == 4
    assert all(seconds > 0.01 for seconds in waited[1:])
