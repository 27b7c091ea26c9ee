"""A rank that its launcher asks to end (SIGTERM), since another one has failed, still says what it knows.

Without us the signal would end it at once. It may stand in a collective call whose partner is gone, where no Python
runs: a thread then leaves in its stead, so that nothing takes longer than a moment."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

# What is left of the program has this long to come back to Python and end.
SECONDS_TO_LEAVE = 4.0


class Terminated(SystemExit):
    """The program ends as if it had been asked to in Python."""


class Guard:
    """In place only where the program has no handler of its own; `last_words` are said by the thread."""

    def __init__(self, last_words: Callable[[], object]) -> None:
        self._last_words = last_words
        self._closing = threading.Event()
        self._done = threading.Event()
        self.asked = False
        self._reader: socket.socket | None = None
        self._writer: socket.socket | None = None

    def stand(self) -> None:
        here = threading.current_thread() is threading.main_thread()
        if not here or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        if signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False) != -1:
            # The program's event loop has its own use for it.
            self._writer = None
            return
        signal.signal(signal.SIGTERM, self._asked_to_end)
        threading.Thread(target=self._stand_by, name="sleuth-guard", daemon=True).start()

    def _asked_to_end(self, number: int, frame: FrameType | None) -> None:
        if not self._closing.is_set():
            self.asked = True
            self._closing.set()
            raise Terminated(128 + number)

    def _stand_by(self) -> None:
        assert self._reader is not None
        while not self._done.is_set():
            try:
                told = self._reader.recv(16)
            except OSError:
                return
            if signal.SIGTERM in told and not self._done.wait(SECONDS_TO_LEAVE) and not self._closing.is_set():
                self._last_words()
                os._exit(128 + signal.SIGTERM)

    def closing(self) -> None:
        """The program has ended; what follows is ours, and takes a bounded time."""
        self._closing.set()

    def relieve(self) -> None:
        self._done.set()
        if self._writer is not None:
            signal.set_wakeup_fd(-1)
            self._writer.close()
            self._writer = None
