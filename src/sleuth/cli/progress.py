"""How far a long piece of work has come, on one line of a terminal; nothing at all where no terminal listens."""

from __future__ import annotations

import sys
import time

# Work that is done sooner than this needs no line.
_AFTER_SECONDS = 0.5
_EVERY_SECONDS = 0.1
_ERASE = "\r\x1b[2K"


class Progress:
    """Called with how much is done and how much there is; ends with its block."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._due = time.monotonic() + _AFTER_SECONDS
        self._shown = False
        self._listens = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        if self._listens and time.monotonic() >= self._due:
            self._due = time.monotonic() + _EVERY_SECONDS
            self._shown = True
            sys.stderr.write(f"{_ERASE}\x1b[2msleuth: {done:,} of {total:,} {self._what}\x1b[0m")
            sys.stderr.flush()

    def __exit__(self, *error: object) -> None:
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
