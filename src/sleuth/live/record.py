"""What a run has learnt, on disk while it runs: a JSON line a row, only ever added to. A killed run is readable."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sleuth.findings import Finding, Report, finding_from_json, finding_to_json

ROWS = "record.jsonl"
# A row every so many seconds at most: nobody reads faster, and a step of a millisecond should not pay for more.
SECONDS_BETWEEN_ROWS = 0.05
# Every such row up to this many, then every second, every fourth ...: the file grows with the logarithm of the run.
ROWS_BEFORE_THINNING = 4096
RUNS_KEPT = 20


class Record:
    """The writer. Each row goes straight to the system, so it outlives a SIGKILL of this process."""

    def __init__(self, root: Path, program: str) -> None:
        runs = root / "runs"
        stamp = time.strftime("%Y%m%d-%H%M%S")
        self.folder = runs / f"{stamp}-{Path(program.removeprefix('-m ')).stem}-{os.getpid()}"
        self.folder.mkdir(parents=True, exist_ok=True)
        ignore = root / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        self._process = os.getpid()
        self._file = os.open(self.folder / ROWS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._every = 1
        self._due = 0.0
        self._rows = 0
        _keep_newest(runs, RUNS_KEPT)
        self._write({"row": "start", "schema": 1, "program": program, "arguments": sys.argv[1:], "time": time.time()})

    def step(self, step: int, loss: float, gradient_norm: float) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + SECONDS_BETWEEN_ROWS * self._every
        self._rows += 1
        if self._rows >= ROWS_BEFORE_THINNING:
            self._rows = 0
            self._every *= 2
            self._write({"row": "thinned", "seconds_between_rows": SECONDS_BETWEEN_ROWS * self._every})
        row = f'{{"row":"step","step":{step},"loss":{_number(loss)},"gradient_norm":{_number(gradient_norm)}}}\n'
        self._put(row)

    def finding(self, finding: Finding) -> None:
        self._write({"row": "finding", "finding": finding_to_json(finding)})

    def end(self, status: int, how: str, steps: int) -> None:
        self._write({"row": "end", "exit": status, "how": how, "steps": steps, "time": time.time()})
        if self._process == os.getpid():
            os.close(self._file)

    def _write(self, row: dict[str, Any]) -> None:
        self._put(json.dumps(row, allow_nan=False) + "\n")

    def _put(self, text: str) -> None:
        # A forked DataLoader worker holds the same file; only the run itself may write to it.
        if self._process == os.getpid():
            os.write(self._file, text.encode())


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'"{value}"'


def _keep_newest(runs: Path, most: int) -> None:
    folders = sorted((f for f in runs.iterdir() if f.is_dir()), key=lambda f: f.stat().st_mtime)
    for folder in folders[:-most]:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Story:
    """A run as its record tells it."""

    report: Report
    summary: str


def newest(root: Path) -> Path:
    """The folder of the latest run. Raises LookupError."""
    runs = root / "runs"
    folders = [folder for folder in runs.iterdir() if (folder / ROWS).is_file()] if runs.is_dir() else []
    if not folders:
        raise LookupError(f"no run is recorded under {runs}; `sleuth run` records one")
    return max(folders, key=lambda folder: (folder / ROWS).stat().st_mtime_ns)


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Every whole row; a last line that a kill has cut short is left out."""
    with open(folder / ROWS, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and "row" in row:
                yield row


def read(folder: Path) -> Story:
    """The report of a run, finished or not. Raises LookupError where the folder holds no record."""
    if not (folder / ROWS).is_file():
        raise LookupError(f"{folder} holds no record of a run")
    program, found, last, end = "?", [], None, None
    for row in rows(folder):
        if row["row"] == "start":
            program = row["program"]
        elif row["row"] == "finding":
            found.append(finding_from_json(row["finding"]))
        elif row["row"] == "step":
            last = row
        elif row["row"] == "end":
            end = row
    findings = tuple(found)
    if end is not None:
        report = Report("run", program, findings, exit=end["exit"])
        return Story(report, f"{program}: {end['how']} after {end['steps']:,} steps, exit status {end['exit']}")
    seen = f"last seen at step {last['step']:,}, loss {last['loss']}" if last else "before its first step"
    return Story(Report("run", program, findings), f"{program}: killed or still running, {seen}")
