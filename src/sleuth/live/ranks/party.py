"""The ranks of a `sleuth run`, seen from that command: it is one of them itself, or its program starts them."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import popen_fork
from pathlib import Path
from typing import Any

from sleuth.findings import Finding, Report, exit_status, finding_to_json
from sleuth.live import record
from sleuth.live.line import say
from sleuth.live.ranks import children, merge, muster, rank, world
from sleuth.live.ranks.guard import Guard
from sleuth.live.wraps import Wraps, after, after_result
from sleuth.program import silenced

_PYTHONS_OWN = ("multiprocessing.", "torch.multiprocessing.")


class Party:
    """Made before the program runs; `report` makes one report of all, once it has ended."""

    def __init__(
        self,
        root: Path | None,
        program: str,
        keep_going: bool,
        ignore: Collection[str],
        expect: Collection[Mapping[str, Any]] = (),
        experiments: float = 0.0,
        quiet: bool = False,
    ) -> None:
        self.is_rank = muster.was_started_as_a_rank()
        self._recorded = root is not None
        self.root = root or (muster.temporary_root() if self.is_rank else None)
        where = self.root or muster.temporary_root()
        self._folder = muster.agreed_folder(where, program) if self.is_rank else record.new_folder(where, program)
        folder = str(self._folder.absolute())
        self._guest = muster.Invitation(folder, keep_going, tuple(ignore), tuple(map(dict, expect)), experiments, quiet)
        self._started: set[int] = set()
        self._exits: dict[int, int] = {}
        self._guard = Guard(self._last_words)
        self._ignore = ignore
        self._seen: list[muster.Fate] = []

    def place(self) -> dict[str, Any]:
        """Where in the folder this process writes."""
        return {"folder": self._folder, "rank": rank() if self.is_rank else 0, "ranks": world() if self.is_rank else 1}

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """While the program runs: ranks that it starts are watched, and how they end is noted."""
        if self.is_rank:
            self._guard.stand()
            try:
                yield
            finally:
                self._guard.closing()
            return
        children.listen_to_forks()
        wraps = Wraps()
        for owner, name in ((popen_fork.Popen, "poll"), (subprocess.Popen, "poll"), (subprocess.Popen, "wait")):
            wraps.wrap(owner, name, after(self._note_exit))
        wraps.wrap(subprocess.Popen, "__init__", after(lambda process, *args, **kwargs: self._note_start(process.pid)))
        if hasattr(os, "fork"):
            wraps.wrap(os, "fork", after_result(lambda _, process: self._note_start(process)))
        try:
            with muster.inviting(self._guest):
                yield
        finally:
            wraps.remove()

    def _note_start(self, process: int) -> None:
        if process:
            self._started.add(process)

    def _note_exit(self, process: Any, *args: Any, **kwargs: Any) -> None:
        if process.returncode is not None:
            self._exits.setdefault(process.pid, process.returncode)

    def wait_for_children(self) -> None:
        """As Python itself does when it ends. Not after an error, which is to be shown first; nor for workers of a
        library whose exit handler, which is still to come, sends them home."""
        for process in multiprocessing.active_children():
            if not process.daemon and type(process).__module__.startswith(_PYTHONS_OWN):
                process.join()

    def were_stopped(self) -> bool:
        """Did ranks that the program started end because of a verdict? Asked before this process writes its own end."""
        if not self.is_rank:
            self._seen = self._fates()
        return any(fate.how == merge.STOPPED for fate in self._seen)

    def how(self, ended: str) -> str:
        """How this process ended, if its launcher has had no part in it."""
        return "was asked to end" if self._guard.asked else ended

    def _fates(self) -> list[muster.Fate]:
        return muster.fates(self._folder) if self._folder.is_dir() else []

    def _processes(self) -> list[muster.Fate]:
        """Those that trained by themselves."""
        return muster.fates_of_processes(self._folder) if self._folder.is_dir() else []

    def report(self, own: Report) -> Report | None:
        """One report of all ranks; None where another rank gives it."""
        if self.is_rank and not muster.speaks_for_all(self._folder):
            return None
        ranks, by_rank = _told(self._folder) if self._folder.is_dir() else (1, {})
        if ranks < 2:
            found = merge.joined(own.findings, self._found_by_processes())
            return replace(own, findings=found, exit=own.exit or exit_status(found))
        muster.all_ended(self._folder, muster.SECONDS_TO_END, but=rank() if self.is_rank else None)
        ranks, by_rank = _told(self._folder)
        if not self._recorded:
            by_rank.setdefault(0, [])
        died = merge.deaths(self._seen or self._fates(), self._exits)
        if died is not None and not silenced(died, self._ignore):
            by_rank.setdefault(died.rank or 0, []).append(died)
            _add(self._folder, died)
        found = merge.together(by_rank, ranks)
        return replace(own, findings=found, exit=own.exit or exit_status(found))

    def _found_by_processes(self) -> list[Finding]:
        return record.findings_of_processes(self._folder) if self._folder.is_dir() else []

    def steps(self, own: int) -> tuple[int, str]:
        """How far the training came in all processes, as a number and in words."""
        everyone, others = self._fates(), self._processes()
        if len(everyone) > 1:
            most = max(fate.step for fate in everyone)
            return most, f"{most:,} steps on {len(everyone)} ranks"
        steps = own + sum(fate.step for fate in others)
        among = f" in {len(others) + bool(own)} processes" if len(others) + bool(own) > 1 else ""
        return steps, f"{steps:,} steps{among}"

    def unseen(self) -> str | None:
        """What is to be said of processes that the program started, if no training was seen anywhere."""
        if any(muster.is_alive(process) for process in self._started):
            return "a process that it started still runs"
        if self._started:
            number = len(self._started)
            which = "a process" if number == 1 else f"{number:,} processes"
            return f"it started {which}, where none was seen or which Sleuth could not enter"
        return None

    def close(self) -> None:
        """The report is out."""
        if self.is_rank:
            muster.reported(self._folder)
        if not self._recorded:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._guard.relieve()

    def _last_words(self) -> None:
        say(f"rank {rank()} was asked to end while it waited for another rank; see sleuth report {self._folder}")


def _told(folder: Path) -> tuple[int, dict[int, list[Finding]]]:
    """How many ranks there are, and what each of them has found."""
    rows = {one: list(record.rows(folder, one)) for one in record.ranks(folder)}
    ranks = max((row["ranks"] for told in rows.values() for row in told if row["row"] == "start"), default=1)
    return ranks, {one: record.findings_in(told) for one, told in rows.items()}


def _add(folder: Path, finding: Finding) -> None:
    """To the record of a run whose own writer has ended already."""
    with open(folder / record.ROWS, "a", encoding="utf-8") as file:
        file.write(json.dumps({"row": "finding", "finding": finding_to_json(finding)}) + "\n")
