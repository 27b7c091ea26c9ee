"""Databases in one file: opened to be read they are read where they lie, else in a copy."""

from __future__ import annotations

import _io
import os
from typing import Any

from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.layers import real

# What a database keeps in a file beside its own until it is closed: SQLite's and DuckDB's.
_BESIDE = ("-wal", "-journal", ".wal")
_OFFSET, _WRITE_AHEAD = 18, 2


def lies(place: str, query: str, following: Any, options: dict[str, Any], changes: Changes) -> str:
    """Where to open it. `following` is the argument behind the path, `query` what follows it in a URI."""
    here = changes.layers.where(place)
    reads = _only_reads(query, following, options) or (real.access(here, os.F_OK) and not real.access(here, os.W_OK))
    if reads and not _has_a_log(here):
        return here
    if not changes.layers.kind(place):
        return changes.for_writing(place)
    for beside in _BESIDE:
        if changes.layers.kind(place + beside):
            changes.lift(place + beside)
    return changes.for_update(place)


def _only_reads(query: str, following: Any, options: dict[str, Any]) -> bool:
    asked = query.lstrip("?").split("&")
    return "mode=ro" in asked or "immutable=1" in asked or (options.get("read_only") or following) is True


def _has_a_log(path: str) -> bool:
    """SQLite writes files beside a database that keeps a log, even to read it."""
    try:
        with _io.open(path, "rb") as file:
            head = file.read(_OFFSET + 1)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3") and head[_OFFSET] == _WRITE_AHEAD
