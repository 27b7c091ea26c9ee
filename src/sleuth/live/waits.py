"""How long the thread that trains waits for other threads and processes, whichever loader they belong to.

Queues, events, futures and barriers of the standard library all wait at a condition; a queue between processes at a
pipe."""

from __future__ import annotations

import multiprocessing.queues
import threading
import time
from collections.abc import Callable
from typing import Any

from sleuth.frameworks.after_import import AfterImport
from sleuth.live.wraps import Wraps

_WAIT_AT = (
    (threading.Condition, "wait"),
    (multiprocessing.queues.Queue, "get"),
    (multiprocessing.queues.SimpleQueue, "get"),
)


class Waits:
    """Calls `waited` with the seconds of each wait of one thread: of the one that `begin` was last called from."""

    def __init__(self, waited: Callable[[float], object]) -> None:
        self._waited = waited
        self._thread: int | None = None
        self._within = False
        self._wraps = Wraps()

    def begin(self) -> None:
        self._thread = threading.get_ident()

    def install(self, imports: AfterImport) -> None:
        for owner, name in _WAIT_AT:
            self._wraps.wrap(owner, name, self._timed)

    def remove(self) -> None:
        self._wraps.remove()

    def _timed(self, original: Any) -> Any:
        def timed(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self._thread or self._within:
                return original(*args, **kwargs)
            self._within, began = True, time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self._within = False
                self._waited(time.perf_counter() - began)

        return timed
