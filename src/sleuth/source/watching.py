"""Waits for files to change, with nothing but their time stamps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator

_SECONDS = 0.3
# Looking for files takes its time in a large project; waiting takes at least so many times as long.
_REST = 4.0

Stamp = tuple[int, int, int]


def changes(paths: Callable[[], Iterable[str]], also: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Once at the beginning, then whenever one of the paths has changed, appeared or gone.

    `also` tells what else to watch; it is asked after each turn, since only then that may be known."""
    while True:
        before = _stamps(paths())
        yield
        others = [path for path in also() if path not in before]
        before |= _stamps(others)
        while _rested(paths, others) == before:
            continue


def _rested(paths: Callable[[], Iterable[str]], others: Iterable[str]) -> dict[str, Stamp | None]:
    began = time.monotonic()
    now = _stamps((*paths(), *others))
    time.sleep(max(_SECONDS, _REST * (time.monotonic() - began)))
    return now


def _stamps(paths: Iterable[str]) -> dict[str, Stamp | None]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino
