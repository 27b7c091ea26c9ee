"""The runs that lie beside a run: what each was, when it began and how it ended, by the first and last of its rows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sleuth.report import wording

# Nobody scrolls through more.
MOST = 50
_RECORD = "record.jsonl"
# Longer than any row that begins or ends a run.
_ROW = 1 << 16


def beside(folder: Path) -> list[dict[str, Any]]:
    """The newest first, this one among them."""
    found = []
    for one in _recorded(folder.resolve().parent):
        first, last = _ends(one / _RECORD)
        if first.get("row") == "start":
            found.append(_told(one.name, first, last if last.get("row") == "end" else {}))
    return found


def _recorded(parent: Path) -> list[Path]:
    folders = [(_written(one / _RECORD), one) for one in parent.iterdir()]
    return [one for written, one in sorted(folders, reverse=True) if written][:MOST]


def _written(record: Path) -> int:
    try:
        return record.stat().st_mtime_ns
    except OSError:
        return 0


def _told(name: str, start: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    words = [start.get("program", "?"), *(start.get("arguments") or ())]
    how = f"{end.get('how', 'ended')}, exit status {end.get('exit', '?')}" if end else ""
    return {
        "name": name,
        "command": wording.sentence(" ".join(map(str, words))),
        "started": start.get("time"),
        "how": wording.sentence(how),
    }


def _ends(record: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with open(record, "rb") as file:
            first = file.readline(_ROW)
            file.seek(max(0, os.fstat(file.fileno()).st_size - _ROW))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return {}, {}
    return _row(first), _row(last)


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
