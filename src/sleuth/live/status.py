"""How the run goes, on one line: redrawn in place on a terminal, now and then a line of its own in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from sleuth.live.line import bars_are_shown, say

_SECONDS_ON_A_TERMINAL = 0.25
_SECONDS_IN_A_LOG = 30.0
_ERASE = "\r\x1b[2K"


class Status:
    """A sink for values. Where the program shows progress bars of its own, it has its say and we are silent."""

    def __init__(self, found: Callable[[], int]) -> None:
        self._found = found
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._every = _SECONDS_ON_A_TERMINAL if self._live else _SECONDS_IN_A_LOG
        self._due = time.monotonic() + self._every
        self._newest: dict[str, float] = {}
        self._steps_at: tuple[int, float] = (0, time.monotonic())
        self._shown = False
        self._wrapped: list[tuple[str, TextIO]] = []
        if self._live:
            self._wrapped = [(name, getattr(sys, name)) for name in ("stdout", "stderr")]
            for name, stream in self._wrapped:
                if stream is not None and stream.isatty():
                    setattr(sys, name, _Polite(stream, self._erase))

    def values(self, step: int, values: Mapping[str, float]) -> None:
        self._newest.update(values)
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + self._every
        if not bars_are_shown():
            text = self._text(step, now)
            self._draw(text) if self._live else say(text)
        self._steps_at = (step, now)

    def _text(self, step: int, now: float) -> str:
        before, then = self._steps_at
        rate = (step - before) / (now - then) if now > then else 0.0
        loss = f", loss {self._newest['loss']:.4g}" if "loss" in self._newest else ""
        found = self._found()
        return f"step {step:,}{loss}, {rate:,.1f} steps/s, {f'{found} found' if found else 'nothing found'}"

    def _draw(self, text: str) -> None:
        self._shown = True
        stream = sys.__stderr__
        if stream is not None:
            stream.write(f"{_ERASE}\x1b[2msleuth: {text}\x1b[0m")
            stream.flush()

    def _erase(self) -> None:
        if self._shown and sys.__stderr__ is not None:
            self._shown = False
            sys.__stderr__.write(_ERASE)
            sys.__stderr__.flush()

    def close(self) -> None:
        self._erase()
        for name, stream in self._wrapped:
            if isinstance(getattr(sys, name), _Polite):
                setattr(sys, name, stream)
        self._wrapped = []


class _Polite:
    """A stream that takes our line off the screen before the program writes to it."""

    def __init__(self, stream: TextIO, make_room: Callable[[], None]) -> None:
        self._stream = stream
        self._make_room = make_room

    def write(self, text: str) -> int:
        self._make_room()
        return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        self._make_room()
        self._stream.writelines(lines)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
