"""How far a long piece of work has come, on one line of a terminal; nothing at all where no terminal listens."""

from __future__ import annotations

import sys
import time

# Work that is done sooner than this needs no line.
_AFTER_SECONDS = 0.5
_EVERY_SECONDS = 0.1
# Before this much time has passed, a rate is a guess.
_RATE_AFTER_SECONDS = 2.0
_ERASE = "\r\x1b[2K"


class Progress:
    """Called with how much is done and how much there is; ends with its block.

    `per` counts in larger units: bytes as MB. `rate` adds how fast it goes and how long the rest will take."""

    def __init__(self, what: str, *, per: int = 1, rate: bool = False) -> None:
        self._what = what
        self._per = per
        self._rate = rate
        self._due = time.monotonic() + _AFTER_SECONDS
        self._first: tuple[float, int] | None = None
        self._shown = False
        self._listens = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        if not self._listens:
            return
        now = time.monotonic()
        if self._first is None:
            # Work that goes on where an earlier run was has not done all of `done` just now.
            self._first = (now, done)
        if now >= self._due:
            self._due = now + _EVERY_SECONDS
            self._shown = True
            line = (
                f"sleuth: {done // self._per:,} of {total // self._per:,} {self._what}{self._speed(now, done, total)}"
            )
            sys.stderr.write(f"{_ERASE}\x1b[2m{line}\x1b[0m")
            sys.stderr.flush()

    def _speed(self, now: float, done: int, total: int) -> str:
        if not self._rate or self._first is None:
            return ""
        since, before = self._first
        if now - since < _RATE_AFTER_SECONDS or done <= before:
            return ""
        a_second = (done - before) / (now - since)
        speed = a_second / self._per
        told = f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"
        return f" · {told} {self._what}/s · {_clock(max(0, total - done) / a_second)} left"

    def __exit__(self, *error: object) -> None:
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


def _clock(seconds: float) -> str:
    """1:02:03, 2:03, or 3 s."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
