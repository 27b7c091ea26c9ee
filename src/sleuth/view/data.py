"""What the page knows of a run: read from its record as that grows, and handed out whole or as what is new."""

from __future__ import annotations

import json
import math
import re
import shlex
import time
from pathlib import Path
from typing import Any

from sleuth.findings import finding_from_json
from sleuth.report import stories, wording
from sleuth.view import alive
from sleuth.view.series import Series, numbers, packed
from sleuth.view.tail import Tail

SCHEMA = 1
_RECORD = re.compile(r"record(?:-rank(\d+))?\.jsonl")
# A run writes about twice a second. One whose process is gone and that is silent for this long will not end any more.
SECONDS_UNTIL_KILLED = 5.0
# Where the process cannot be asked for: no honest step takes this long without a sign of life.
SECONDS_UNTIL_GIVEN_UP = 120.0
# From here on the page says for how long nothing was heard.
SECONDS_UNTIL_QUIET = 30.0


class Run:
    """One run's record, all ranks of it. `refresh` reads on; `page` tells what is newer than a version of the data."""

    def __init__(self, folder: Path, ignore: frozenset[str] = frozenset()) -> None:
        self.folder = folder
        self.version = 0
        self.ignore = ignore
        self._tails: dict[int, Tail] = {}
        self._series: dict[tuple[int, str], Series] = {}
        self._findings: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._expectations: list[dict[str, Any]] = []
        self._bundles: list[dict[str, Any]] = []
        self._stories_version = 0
        self._start: dict[str, Any] = {}
        self._process: int | None = None
        self._ends: dict[int, dict[str, Any]] = {}
        self._latest: dict[str, Any] = {}
        self._pending: dict[str, Any] = {}
        self._written = 0.0
        self._first: tuple[int, float] | None = None
        self._steps = 0
        self._seconds = 0.0
        self.refresh()
        if not self._tails:
            raise LookupError(f"{folder} holds no record of a run")

    def refresh(self) -> None:
        for path in sorted(self.folder.glob("record*.jsonl")):
            named = _RECORD.fullmatch(path.name)
            if named:
                self._tails.setdefault(int(named[1] or 0), Tail(path))
        for rank, tail in sorted(self._tails.items()):
            for row in tail.rows():
                self.version += 1
                try:
                    self._take(row, rank)
                except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                    # A row that another version wrote in another way must not hide the others.
                    continue
        self._take_latest()

    def tag(self) -> str:
        """Changes whenever the page would."""
        state = self._state()
        return f"{self.version}-{state['name']}-{state['quiet']}-{self._latest.get('time')}"

    def page(self, since: int = -1) -> dict[str, Any]:
        """Everything the page shows, or what is newer than a version that an earlier page told."""
        page: dict[str, Any] = {"schema": SCHEMA, "since": since, "version": self.version, "run": self._summary()}
        if since < self._stories_version:
            page["findings"] = list(self._findings.values())
            page["expectations"] = self._expectations
            page["bundles"] = self._bundles
        page["axes"], page["series"] = self._curves(since)
        return page

    def _take(self, row: dict[str, Any], rank: int) -> None:
        kind = row["row"]
        if kind == "values":
            seconds = _finite(row["time"])
            self._take_values(row["step"], row["steps"], row["v"], rank)
            self._seconds = max(self._seconds, seconds)
            if rank == 0:
                self._written = seconds
                self._first = self._first or (row["step"] + row["steps"], seconds)
        elif kind == "step":
            # Schema 1 knew only these two.
            self._take_values(row["step"], 1, {"loss": row["loss"], "gradient norm": row["gradient_norm"]}, rank)
        elif kind == "finding":
            self._take_finding(row["finding"], rank)
        elif kind == "expectation":
            self._take_expectation(row)
        elif kind == "bundle":
            command = f"sleuth replay {shlex.quote(str(self.folder / row['path']))}"
            self._bundles.append({"step": row["step"], "command": wording.sentence(command)})
            self._stories_version = self.version
        elif kind == "start" and (rank == 0 or not self._start):
            self._start = {**row, "time": _finite(row["time"])}
            self._process = row.get("process") or alive.process_of(self.folder)
        elif kind == "end":
            self._ends[rank] = {**row, "time": _finite(row["time"]), "steps": int(row["steps"])}

    def _take_values(self, step: int, steps: int, values: dict[str, Any], rank: int) -> None:
        self._steps = max(self._steps, step + steps)
        for name, value in values.items():
            series = self._series.get((rank, name))
            if series is None:
                series = self._series[rank, name] = Series()
            try:
                series.add(step, steps, value, self.version)
            except (TypeError, ValueError):
                continue

    def _take_finding(self, written: dict[str, Any], rank: int) -> None:
        finding = finding_from_json(written)
        if finding.diagnosis in self.ignore:
            return
        told = stories.told(finding, self._root())
        if not told["ranks"] and len(self._tails) > 1:
            told["ranks"] = [rank]
        self._stories_version = self.version
        same = self._findings.setdefault(stories.key(finding), told)
        if same is told:
            return
        same["ranks"] = sorted({*same["ranks"], *told["ranks"]})
        if told["step"] is not None and (same["step"] is None or told["step"] < same["step"]):
            same["step"] = told["step"]

    def _root(self) -> Path:
        """The folder the run was started in, which places are relative to: here, or where its `.sleuth` lies."""
        here, there = Path.cwd(), self.folder.resolve().parent.parent.parent
        program = str(self._start.get("program", ""))
        return there if (there / program).is_file() and not (here / program).is_file() else here

    def _take_expectation(self, row: dict[str, Any]) -> None:
        place = row.get("place")
        where = f"{place['path']}:{place['line']}" if place else None
        expectation = {"says": wording.sentence(row["says"]), "where": where and wording.sentence(where)}
        if expectation not in self._expectations:
            self._expectations.append(expectation)
            self._stories_version = self.version

    def _take_latest(self) -> None:
        """The newest values, and the row that the record holds back until it is full."""
        try:
            latest = json.loads((self.folder / "latest.json").read_bytes())
            steps, seconds = int(latest["step"]) + 1, _finite(latest["time"])
            pending = dict(latest.get("pending") or {})
        except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return
        self._latest = latest
        fresh = self._end() is None and seconds > self._written and isinstance(pending.get("v"), dict)
        self._pending = pending if fresh else {}
        self._steps = max(self._steps, steps)
        self._seconds = max(self._seconds, seconds)
        for name in self._pending.get("v", ()):
            self._series.setdefault((0, name), Series())

    def _curves(self, since: int) -> tuple[list[list[str]], list[dict[str, Any]]]:
        """The curves, and the steps they run over: most share theirs, so that each such axis is sent once."""
        axes: dict[tuple[str, str], int] = {}
        curves = []
        for (rank, name), series in self._series.items():
            start = series.since(since)
            columns = series.columns(start, () if rank else self._unfinished(name))
            if not columns[0]:
                continue
            first, count, mean, low, high = columns
            axis = packed(first), packed(count)
            curve: dict[str, Any] = {"rank": rank, "name": name, "start": start}
            curve["axis"] = axes.setdefault(axis, len(axes))
            curve["mean"] = packed(mean)
            if low != mean or high != mean:
                curve["low"], curve["high"] = packed(low), packed(high)
            curves.append(curve)
        return [list(axis) for axis in axes], curves

    def _unfinished(self, name: str) -> tuple[float, ...]:
        """The point of the row in the making. The page forgets it when the row is there."""
        try:
            mean, low, high, _ = numbers(self._pending["v"][name])
            return float(self._pending["step"]), float(self._pending["steps"]), mean, low, high
        except (KeyError, TypeError, ValueError):
            return ()

    def _summary(self) -> dict[str, Any]:
        end = self._end() or {}
        started, ended = self._start.get("time"), end.get("time")
        return {
            "program": wording.sentence(str(self._start.get("program", "?"))),
            "arguments": [wording.sentence(str(word)) for word in self._start.get("arguments") or ()],
            "state": self._state(),
            "steps": end.get("steps", self._steps),
            "pace": self._pace(),
            "started": started,
            "seconds": self._seconds if started is None or ended is None else max(0.0, ended - started),
            "ranks": sorted(self._tails),
        }

    def _pace(self) -> float | None:
        """Steps a second, without what came before the first."""
        if self._first is None or self._seconds <= self._first[1]:
            return None
        return (self._steps - self._first[0]) / (self._seconds - self._first[1])

    def _end(self) -> dict[str, Any] | None:
        return self._ends.get(min(self._tails)) if self._tails else None

    def _state(self) -> dict[str, Any]:
        """`name` is running, ended or killed; `says` is that in words; `quiet` how long nothing was heard."""
        end = self._end()
        if end is not None:
            says = f"{end.get('how', 'ended')}, exit status {end.get('exit', '?')}"
            return {"name": "ended", "says": wording.sentence(says), "good": end.get("exit") == 0, "quiet": 0}
        silent = max(0.0, time.time() - self._last_heard())
        living = alive.is_alive(self._process)
        patience = SECONDS_UNTIL_GIVEN_UP if living is None else SECONDS_UNTIL_KILLED
        if not living and silent > patience:
            return {"name": "killed", "says": "killed, or ended without a word", "good": False, "quiet": 0}
        # In steps of ten, so that a page with nothing new stays the same page.
        quiet = int(silent) // 10 * 10 if silent > SECONDS_UNTIL_QUIET else 0
        return {"name": "running", "says": "running", "good": False, "quiet": quiet}

    def _last_heard(self) -> float:
        written = [0.0]
        for path in (*(tail.path for tail in self._tails.values()), self.folder / "latest.json"):
            try:
                written.append(path.stat().st_mtime)
            except OSError:
                continue
        return max(written)


def _finite(number: Any) -> float:
    """What the page counts with must be a number that JSON knows."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is not finite")
    return value
