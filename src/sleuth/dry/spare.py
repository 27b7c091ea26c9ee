"""A process that has done the program's imports and waits: what is rehearsed again starts there."""

from __future__ import annotations

import ctypes
import json
import select
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from io import FileIO

# By name: what stands in `os` is pretended later.
from os import _exit, close, fork, getpid, listdir, pipe, read, setsid, wait4, waitpid, write
from pathlib import Path
from typing import Any

from sleuth.dry.safe.processes import allowed
from sleuth.dry.scenario import Scenario

Begin = Callable[[Scenario, Path], None]
# The program and our clock. A fork leaves all others behind, and whoever waits for one of them waits for ever.
_THREADS = 2
# Arrow's memory has one that starts itself anew in a copy.
_STARTED_ANEW = b"jemalloc_bg_thd"
# A process that was killed is gone by then.
_PATIENCE = 10.0
_SET_SUBREAPER = 36


class Spare:
    """The way to it, from the process that holds the rehearsals."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = _kept(scenario)
        self._asked, self._asking = pipe()
        self._answers, self._answering = pipe()
        self._ready: bool | None = None
        self._process = 0

    def offer(self, is_untouched: Callable[[], bool], begin: Begin) -> None:
        """In the rehearsed process: leave a copy of it behind, which waits; `begin` makes it another rehearsal."""
        close(self._asking)
        close(self._answers)
        if is_untouched() and _is_alone() and _fork() == 0:
            _serve(self._asked, self._answering, begin)
            return
        close(self._asked)
        close(self._answering)

    def given(self) -> None:
        """In the process that holds the rehearsals, once the other has been started."""
        _inherit_orphans(True)
        close(self._asked)
        close(self._answering)

    def fits(self, scenario: Scenario) -> bool:
        """Does it wait, and has it begun as this scenario would?"""
        if _kept(scenario) != self._scenario:
            return False
        if self._ready is None:
            answer = _line(self._answers)
            self._ready = answer is not None
            self._process = answer["process"] if answer is not None else 0
        return self._ready

    def play(self, scenario: Scenario, journal: Path) -> Player | None:
        _say(self._asking, {"scenario": scenario.to_json(), "journal": str(journal)})
        answer = _line(self._answers)
        self._ready = answer is not None
        return None if answer is None else Player(answer["process"], self._answers)

    def close(self) -> None:
        """It ends when nobody can ask any more, and is waited for."""
        close(self._asking)
        has_ended = False
        while not has_ended and select.select([self._answers], [], [], _PATIENCE)[0]:
            answer = _line(self._answers)
            has_ended = answer is None
            self._process = self._process or (answer or {}).get("process", 0)
        close(self._answers)
        if self._process and has_ended:
            with suppress(ChildProcessError):  # where there are no orphans to inherit
                waitpid(self._process, 0)
        _inherit_orphans(False)


class Player:
    """A rehearsal that the waiting process has begun."""

    def __init__(self, process: int, answers: int) -> None:
        self.process = process
        self._answers = answers
        self._cpu_seconds: float | None = None

    def has_ended(self, patience: float = 0.0) -> bool:
        if self._cpu_seconds is None and select.select([self._answers], [], [], patience)[0]:
            self._cpu_seconds = (_line(self._answers) or {"cpu": 0.0})["cpu"]
        return self._cpu_seconds is not None

    def cpu_seconds(self) -> float:
        self.has_ended(_PATIENCE)
        return self._cpu_seconds or 0.0


def _kept(scenario: Scenario) -> Scenario:
    """What is settled before the program's imports are done."""
    return replace(scenario, corner="", rounds=0, seconds=0.0, batch=0, keeps_files=False)


def _is_alone() -> bool:
    try:
        names = [_read(f"/proc/self/task/{thread}/comm") for thread in listdir("/proc/self/task")]
        return sum(name != _STARTED_ANEW for name in names) <= _THREADS
    except OSError:
        return False


def _fork() -> int:
    """Here it is known to be safe, of which Python warns."""
    with allowed(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return fork()


def _inherit_orphans(want: bool) -> None:
    """Its parent ends before it does: then it is ours, and so is what it has cost."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_SET_SUBREAPER, int(want), 0, 0, 0)


def _read(path: str) -> bytes:
    with FileIO(path) as file:
        return file.readall().strip()


def _serve(asked: int, answering: int, begin: Begin) -> None:
    """The life of the process that waits. Returns in each copy of it that is to play."""
    setsid()
    _say(answering, {"process": getpid()})
    while (request := _line(asked)) is not None:
        player = _fork()
        if player == 0:
            close(asked)
            close(answering)
            setsid()
            begin(Scenario.from_json(request["scenario"]), Path(request["journal"]))
            return
        _say(answering, {"process": player})
        _, _, used = wait4(player, 0)
        _say(answering, {"cpu": used.ru_utime + used.ru_stime})
    _exit(0)


def _say(descriptor: int, what: dict[str, Any]) -> None:
    try:
        write(descriptor, (json.dumps(what) + "\n").encode())
    except BrokenPipeError:
        return


def _line(descriptor: int) -> Any:
    """The next line; None where nobody can write one any more."""
    line = b""
    while not line.endswith(b"\n"):
        byte = read(descriptor, 1)
        if not byte:
            return None
        line += byte
    return json.loads(line)
