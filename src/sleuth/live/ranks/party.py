"""The ranks of a `sleuth run`, seen from that command: it is one of them itself, or its program starts them."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import popen_fork
from pathlib import Path
from typing import Any

from sleuth.findings import Finding, Report, exit_status, finding_from_json, finding_to_json
from sleuth.live import record
from sleuth.live.line import say
from sleuth.live.ranks import merge, muster, rank, world
from sleuth.live.ranks.guard import Guard
from sleuth.live.wraps import Wraps, after
from sleuth.program import silenced


class Party:
    """Made before the program runs; `report` makes one report of all, once it has ended."""

    def __init__(
        self,
        root: Path | None,
        program: str,
        keep_going: bool,
        ignore: Collection[str],
        expect: Collection[Mapping[str, Any]] = (),
    ) -> None:
        self.is_rank = muster.was_started_as_a_rank()
        self._recorded = root is not None
        self.root = root or (muster.temporary_root() if self.is_rank else None)
        where = self.root or muster.temporary_root()
        self._folder = muster.agreed_folder(where, program) if self.is_rank else record.new_folder(where, program)
        folder = str(self._folder.absolute())
        self._guest = muster.Invitation(folder, keep_going, tuple(ignore), tuple(map(dict, expect)))
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
        wraps = Wraps()
        for owner, name in ((popen_fork.Popen, "poll"), (subprocess.Popen, "poll"), (subprocess.Popen, "wait")):
            wraps.wrap(owner, name, after(self._note_exit))
        try:
            with muster.inviting(self._guest):
                yield
        finally:
            wraps.remove()

    def _note_exit(self, process: Any, *args: Any, **kwargs: Any) -> None:
        if process.returncode is not None:
            self._exits.setdefault(process.pid, process.returncode)

    def wait_for_children(self) -> None:
        """As Python itself does when it ends. Not after an error, which is to be shown first."""
        for process in multiprocessing.active_children():
            if not process.daemon:
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

    def report(self, own: Report) -> Report | None:
        """One report of all ranks; None where another rank gives it."""
        if self.is_rank and not muster.speaks_for_all(self._folder):
            return None
        ranks, by_rank = _told(self._folder) if self._folder.is_dir() else (1, {})
        if ranks < 2:
            return own
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

    def steps(self, own: int) -> str:
        """How far the ranks came, in words."""
        everyone = self._fates()
        if len(everyone) < 2:
            return f"{own:,} steps"
        return f"{max(fate.step for fate in everyone):,} steps on {len(everyone)} ranks"

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
    ranks = 1
    found: dict[int, list[Finding]] = {}
    for one in record.ranks(folder):
        found[one] = []
        for row in record.rows(folder, one):
            if row["row"] == "start":
                ranks = max(ranks, row["ranks"])
            elif row["row"] == "finding":
                found[one].append(finding_from_json(row["finding"]))
    return ranks, found


def _add(folder: Path, finding: Finding) -> None:
    """To the record of a run whose own writer has ended already."""
    with open(folder / record.ROWS, "a", encoding="utf-8") as file:
        file.write(json.dumps({"row": "finding", "finding": finding_to_json(finding)}) + "\n")
