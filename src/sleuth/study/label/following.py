"""Reads a file of labels once, and from then on only what has been added to it, by whomever."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sleuth.study.label.store import Label, read_labels

# A line holds its time, so that much of the end of what was read tells whether it is still the same file.
_REMEMBERED = 200


class Following:
    """What stands in a file for one rater: all the labels that `is_ours` says are the rater's."""

    def __init__(self, path: Path, is_ours: Callable[[Label], bool]) -> None:
        self.standing: dict[str, Label] = {}
        self._path = path
        self._is_ours = is_ours
        self._file = (0, 0)
        self._offset = 0
        self._end = b""

    def refresh(self) -> set[str]:
        """The posts of which something may be new. Raises NotLabels."""
        try:
            status = os.stat(self._path)
        except OSError:
            self._file = (0, 0)
            return self._replace({})
        file = (status.st_dev, status.st_ino)
        if file == self._file and status.st_size == self._offset:
            return set()
        if file == self._file and status.st_size > self._offset and (added := self._added()) is not None:
            return self._append(added)
        labels = read_labels(self._path)
        self._file, self._offset, self._end = file, status.st_size, _before(self._path, status.st_size)
        return self._replace({label.key: label for label in labels if self._is_ours(label)})

    def _added(self) -> list[Label] | None:
        """The labels in the lines after those already read; None if more than that has happened to the file."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset - len(self._end))
                end, added = file.read(len(self._end)), file.read()
            whole = added[: added.rfind(b"\n") + 1]
            labels = [_label(json.loads(line)) for line in whole.splitlines() if line]
        except (OSError, KeyError, TypeError, ValueError):
            return None
        if end != self._end:
            return None
        self._offset += len(whole)
        self._end = (end + whole)[-_REMEMBERED:]
        return labels

    def _append(self, added: list[Label]) -> set[str]:
        ours = [label for label in added if self._is_ours(label)]
        for label in ours:
            self.standing[label.key] = label
            if label.label is None:
                del self.standing[label.key]
        return {label.key for label in ours}

    def _replace(self, standing: dict[str, Label]) -> set[str]:
        before, self.standing = self.standing, standing
        return {key for key in before.keys() | standing.keys() if before.get(key) != standing.get(key)}


def _before(path: Path, offset: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, offset - _REMEMBERED))
        return file.read(min(offset, _REMEMBERED))


def _label(record: dict[str, Any]) -> Label:
    return Label(
        key=record["key"],
        codebook=record["codebook"],
        label=record["label"],
        rater=record["rater"],
        round=record["round"],
        at_ms=record["at_ms"],
        second=record.get("second"),
    )
