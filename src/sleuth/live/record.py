"""What a run has learnt, on disk while it runs: a JSON line a row, only ever added to. A killed run is readable."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sleuth.findings import Finding, Place, Report, finding_from_json, finding_to_json, place_to_json

SCHEMA = 2
ROWS = "record.jsonl"
LATEST = "latest.json"
# A row every so many seconds at most: nobody reads faster, and a step of a millisecond should not pay for more.
SECONDS_BETWEEN_ROWS = 0.05
# What waits for its row, and the newest values, are on disk within this.
SECONDS_BETWEEN_LATEST = 0.5
# Each such amount of rows doubles the steps that a row covers: the file grows with the logarithm of the run.
BYTES_BEFORE_THINNING = 1_000_000
RUNS_KEPT = 20


class Reader(Protocol):
    """Whoever else wants to know what is written."""

    def row(self, row: dict[str, Any]) -> object: ...

    def finding(self, finding: Finding) -> object: ...


class Record:
    """The writer. Each row goes straight to the system, so it outlives a SIGKILL of this process.

    No value is dropped: those that share a row are told by their mean, lowest, highest and number."""

    def __init__(
        self,
        root: Path,
        program: str,
        arguments: Sequence[str] = (),
        *,
        folder: Path | None = None,
        rank: int = 0,
        ranks: int = 1,
        helps: bool = False,
    ) -> None:
        """`folder` is given where several processes share one run. `helps`: this one was started by its program and
        trains by itself, as no rank."""
        self.rank = rank
        self._is_first = not rank and not helps
        self.folder = (folder or new_folder(root, program)).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        ignore = root / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        self._process = os.getpid()
        name = file_of_process(self._process) if helps else file_of_rank(rank)
        self._file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._began = time.monotonic()
        self._row_due = self._latest_due = 0.0
        self._steps_per_row = 1
        self._bytes = 0
        self._pending: dict[str, list[float]] = {}
        self._pending_from = self._step = -1
        self._newest: dict[str, float] = {}
        self.also: list[Reader] = []
        _keep_newest(self.folder.parent, RUNS_KEPT)
        self._write(
            {
                "row": "start",
                "schema": SCHEMA,
                "program": program,
                "arguments": list(arguments),
                "time": time.time(),
                "process": self._process,
                "rank": rank,
                "ranks": ranks,
            }
        )

    def values(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers of a step, by name. A step may be told in several calls: its row is written when the next begins."""
        now = time.monotonic()
        if step > self._step >= 0 and now >= self._row_due and step - self._pending_from >= self._steps_per_row:
            self._row_due = now + SECONDS_BETWEEN_ROWS
            self._flush()
        pending = self._pending
        for name, value in values.items():
            held = pending.get(name)
            if held is None:
                pending[name] = [value, value, value, 1]
            else:
                held[0] += value
                if value < held[1]:
                    held[1] = value
                if value > held[2]:
                    held[2] = value
                held[3] += 1
        self._newest.update(values)
        if self._pending_from < 0:
            self._pending_from = step
        self._step = max(step, self._step)
        if now >= self._latest_due:
            self._latest_due = now + SECONDS_BETWEEN_LATEST
            self._write_latest()

    def _flush(self) -> None:
        row = self._row()
        if row is None:
            return
        self._pending, self._pending_from = {}, -1
        self._bytes += self._write(row)
        for also in self.also:
            also.row(row)
        if self._bytes >= BYTES_BEFORE_THINNING:
            self._bytes = 0
            self._steps_per_row *= 2
            self._write({"row": "thinned", "steps_per_row": self._steps_per_row})

    def _row(self) -> dict[str, Any] | None:
        if self._pending_from < 0:
            return None
        return {
            "row": "values",
            "step": self._pending_from,
            "steps": self._step - self._pending_from + 1,
            "time": round(time.monotonic() - self._began, 3),
            "v": {name: _told(*held) for name, held in self._pending.items()},
        }

    def _write_latest(self) -> None:
        """The newest values, and the row in the making, in a file of their own that is replaced as a whole."""
        if self._process != os.getpid() or not self._is_first:
            return
        told = {
            "step": self._step,
            "time": round(time.monotonic() - self._began, 3),
            "v": {name: _number(value) for name, value in self._newest.items()},
            "pending": self._row(),
        }
        draft = self.folder / f"{LATEST}.new"
        draft.write_text(json.dumps(told, allow_nan=False))
        draft.replace(self.folder / LATEST)

    def finding(self, finding: Finding) -> None:
        self._flush()
        self._write({"row": "finding", "finding": finding_to_json(finding)})
        for also in self.also:
            also.finding(finding)

    def expectation(self, says: str, place: Place | None) -> None:
        self._write({"row": "expectation", "says": says, "place": place_to_json(place)})

    def bundle(self, name: str, identity: str, step: int) -> None:
        """The failing step was kept in a file of this folder; its identity is proof that this run wrote it."""
        self._write({"row": "bundle", "path": name, "id": identity, "step": step})

    def end(self, status: int, how: str, steps: int, why: str | None = None) -> None:
        """`why` no training was seen, where none was."""
        self._flush()
        self._write_latest()
        self._write({"row": "end", "exit": status, "how": how, "steps": steps, "why": why, "time": time.time()})
        if self._process == os.getpid():
            os.close(self._file)

    def _write(self, row: dict[str, Any]) -> int:
        # A forked DataLoader worker holds the same file; only the run itself may write to it.
        if self._process != os.getpid():
            return 0
        return os.write(self._file, (json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n").encode())


class LateRecord(Record):
    """Begun when there is something to write: most processes that a program starts do not train."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._given = given, named
        self._begun = False

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            given, named = self._given
            super().__init__(*given, **named)

    def values(self, step: int, values: Mapping[str, float]) -> None:
        self._begin()
        super().values(step, values)

    def finding(self, finding: Finding) -> None:
        self._begin()
        super().finding(finding)

    def expectation(self, says: str, place: Place | None) -> None:
        """The program's own record has it."""

    def end(self, status: int, how: str, steps: int, why: str | None = None) -> None:
        if self._begun:
            super().end(status, how, steps, why)


def new_folder(root: Path, program: str) -> Path:
    """Where a run that begins now is recorded."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return root / "runs" / f"{stamp}-{Path(program.removeprefix('-m ')).stem}-{os.getpid()}"


def file_of_rank(rank: int) -> str:
    return f"record-rank{rank}.jsonl" if rank else ROWS


def file_of_process(process: int) -> str:
    return f"record-process{process}.jsonl"


def _told(total: float, low: float, high: float, count: float) -> Any:
    if count == 1:
        return _number(total)
    return [_number(total / count), _number(low), _number(high), int(count)]


def _number(value: float) -> float | str:
    """Six digits are more than any curve shows; strict JSON has no NaN."""
    return float(f"{value:.6g}") if math.isfinite(value) else str(float(value))


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


def ranks(folder: Path) -> list[int]:
    """The ranks that have written to a run's folder."""
    return ([0] if (folder / ROWS).is_file() else []) + _numbered(folder, "rank")


def processes(folder: Path) -> list[int]:
    """The processes that the program started and that trained by themselves."""
    return _numbered(folder, "process")


def _numbered(folder: Path, kind: str) -> list[int]:
    names = [re.fullmatch(rf"record-{kind}(\d+)\.jsonl", path.name) for path in folder.iterdir()]
    return sorted(int(found[1]) for found in names if found)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole row of a file; a last line that a kill has cut short is left out."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and "row" in row:
                yield row


def rows(folder: Path, rank: int = 0) -> Iterator[dict[str, Any]]:
    """Every whole row of a rank; one that a kill kept from being written is made up for from the newest values."""
    last = -1.0
    ended = False
    for row in rows_of(folder / file_of_rank(rank)):
        if row["row"] == "values":
            last = row["time"]
        ended = ended or row["row"] == "end"
        yield row
    pending = None if rank or ended else latest(folder).get("pending")
    if pending is not None and pending["time"] > last:
        yield pending


def latest(folder: Path) -> dict[str, Any]:
    """The newest values of a run: `step`, `time`, `v` by name; empty before there are any."""
    try:
        told = json.loads((folder / LATEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def findings_in(told: Iterable[dict[str, Any]]) -> list[Finding]:
    """Those among the rows."""
    return [finding_from_json(row["finding"]) for row in told if row["row"] == "finding"]


def findings_of_processes(folder: Path) -> list[Finding]:
    """What was found in the processes that the program started and that are no ranks."""
    return [found for one in processes(folder) for found in findings_in(rows_of(folder / file_of_process(one)))]


def read(folder: Path) -> Story:
    """The report of a run, finished or not. Raises LookupError where the folder holds no record."""
    if not (folder / ROWS).is_file():
        raise LookupError(f"{folder} holds no record of a run")
    from sleuth.live.ranks.merge import joined, together

    program, several, last, end = "?", 1, None, None
    found = {rank: findings_in(rows(folder, rank)) for rank in ranks(folder)}
    for row in rows(folder):
        if row["row"] == "start":
            program, several = row["program"], max(several, row["ranks"])
        elif row["row"] == "values" and "loss" in row["v"]:
            last = row
        elif row["row"] == "end":
            end = row
    findings = joined(together(found, several), findings_of_processes(folder))
    if end is not None:
        report = Report("run", program, findings, exit=end["exit"])
        seen = f"{end['how']} after {end['steps']:,} steps" if end["steps"] or findings else _unseen(end)
        return Story(report, f"{program}: {seen}, exit status {end['exit']}")
    seen = "before its first step"
    if last is not None:
        loss = last["v"]["loss"]
        seen = f"last seen at step {last['step'] + last['steps'] - 1:,}, "
        seen += f"loss {loss[0] if isinstance(loss, list) else loss}"
    return Story(Report("run", program, findings), f"{program}: killed or still running, {seen}")


def _unseen(end: dict[str, Any]) -> str:
    why = f": {end['why']}" if end.get("why") else ""
    return f"{end['how']}, no training was seen{why}"
