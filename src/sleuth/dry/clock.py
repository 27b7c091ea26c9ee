"""How much of its time a rehearsal has used: seconds in which it had the processor, or wanted none.

What other programs on this machine take of the processor is not counted, so that a busy machine cuts nothing short."""

from __future__ import annotations

import os
import threading
from io import FileIO
from os import listdir  # by name: what stands in `os` is pretended while the program runs
from time import monotonic, process_time

# How often somebody should look, in seconds.
EVERY = 0.25
# Whoever works, or waits for a core, for less than this share of the time stands still.
_STILL = 0.1
# Whatever is counted, a rehearsal has so many times its seconds by the clock on the wall.
_LONGEST = 5.0
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Clock:
    """Counts the time of one process and its children, from now on; `look` now and then."""

    def __init__(self, seconds: float, process: int | None = None) -> None:
        self.seconds = seconds
        self.used = 0.0
        # That part of it in which nothing was computed: the program slept, or waited for something.
        self.still = 0.0
        self._process = process or os.getpid()
        self._began = self._looked = monotonic()
        self._worked, self._queued = self._so_far()

    def look(self) -> None:
        now = monotonic()
        passed = now - self._looked
        if passed < EVERY / 2:  # the system counts in hundredths of a second: too short to tell
            return
        worked, queued = self._so_far()
        busy, waiting = worked - self._worked, queued - self._queued
        self._looked, self._worked, self._queued = now, worked, queued
        if busy + waiting < _STILL * passed:
            self.still += passed
            self.used += passed
        else:
            self.used += max(0.0, min(passed, busy))

    @property
    def left(self) -> float:
        """Seconds; none once it is over by the clock on the wall."""
        return self.seconds - self.used if monotonic() - self._began < self.seconds * _LONGEST else 0.0

    @property
    def is_over(self) -> bool:
        return self.left <= 0.0

    @property
    def stood_still(self) -> bool:
        """Did it do so for most of its time?"""
        return self.still > self.used / 2

    def _so_far(self) -> tuple[float, float]:
        """Seconds of processor, and seconds in which a thread was ready and got no core."""
        own = self._process == os.getpid()
        try:
            family = _family(self._process)
            worked = sum(map(_worked, family))
            aside = threading.get_native_id() if own else 0
            return worked, sum(_queued(one, aside) for one in family)
        except (OSError, ValueError, IndexError):  # no /proc here, or the process has just ended
            return (process_time() if own else monotonic()), 0.0


def _family(process: int) -> list[int]:
    """The process and all that descend from it and still run."""
    family = [process]
    for one in family:
        for thread in _threads(one):
            family += map(int, _text(f"/proc/{one}/task/{thread}/children").split())
    return family


def _threads(process: int) -> list[str]:
    return listdir(f"/proc/{process}/task")


def _worked(process: int) -> float:
    """With the children that have ended."""
    fields = _text(f"/proc/{process}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICK


def _queued(process: int, aside: int) -> float:
    """Of all threads but one, the one that looks."""
    threads = [thread for thread in _threads(process) if int(thread) != aside]
    return sum(int(_text(f"/proc/{process}/task/{thread}/schedstat").split()[1]) for thread in threads) / 1e9


def _text(path: str) -> str:
    with FileIO(path) as file:
        return file.readall().decode()
