"""Labels on disk: one JSON line each, appended and synced one by one; a kill loses nothing that was confirmed."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

if os.name == "posix":
    import fcntl

# How every line begins that is written here.
_OPENING = b'{"key": '
_CSV_COLUMNS = ("key", "scheme", "label", "rater")


class NotLabels(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Label:
    """What one rater said of one post in one round. No `label` takes back what the rater had said before."""

    key: str
    codebook: str
    label: str | None
    rater: str
    round: int = 1
    at_ms: int = 0
    # Another label that fits nearly as well.
    second: str | None = None
    # Where a table of somebody else's labels has them from.
    source: str = ""

    @property
    def slot(self) -> tuple[str, str, str, int]:
        """A later line of the same slot replaces the earlier one."""
        return self.key, self.codebook, self.rater, self.round


@dataclass(frozen=True)
class Labels:
    """The labels that stand, and how many lines of the file could not be read."""

    standing: tuple[Label, ...]
    torn: int = 0

    def __iter__(self) -> Iterator[Label]:
        return iter(self.standing)

    def __len__(self) -> int:
        return len(self.standing)


def now_ms() -> int:
    """The time that a label carries: whole milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


class LabelFile:
    """A labels.jsonl to append to, by any number of raters and processes at once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            is_new = not self.path.exists()
            self._descriptor = os.open(self.path, flags, 0o644)
            if is_new:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise NotLabels(f"cannot write labels to {self.path}: {error.strerror}") from None

    def __enter__(self) -> LabelFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._descriptor)

    def append(self, label: Label) -> Label:
        """Write one label. When this returns it is on disk; the label given back carries the time it was written."""
        return self.append_all([label])[0]

    def append_all(self, labels: Iterable[Label]) -> list[Label]:
        """Write many labels at once: all are on disk when this returns."""
        now = now_ms()
        stamped = [label if label.at_ms else replace(label, at_ms=now) for label in labels]
        lines = "".join(json.dumps(_record(label)) + "\n" for label in stamped).encode()
        try:
            with _locked(self._descriptor):
                end = os.fstat(self._descriptor).st_size
                _write_whole(self._descriptor, lines if self._ends_in_a_line(end) else b"\n" + lines, end)
                os.fsync(self._descriptor)
        except OSError as error:
            raise NotLabels(f"cannot write labels to {self.path}: {error.strerror}") from None
        return stamped

    def _ends_in_a_line(self, end: int) -> bool:
        """Not so after a kill in the middle of a write: what is torn gets a line of its own, left out when read."""
        if end == 0:
            return True
        os.lseek(self._descriptor, end - 1, os.SEEK_SET)
        return os.read(self._descriptor, 1) == b"\n"


def read_labels(path: str | Path) -> Labels:
    """The labels that stand in a labels.jsonl, or all rows of a CSV `source,key,scheme,label,rater`.

    Raises NotLabels."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotLabels(f"cannot read {path}: {error.strerror}") from None
    if _looks_like_json(content):
        return _from_lines(path, content)
    return _from_csv(path, content.decode("utf-8-sig", "replace"))


def settle(labels: Iterable[Label]) -> tuple[Label, ...]:
    """The last word of every rater on every post, in the order the posts were first met."""
    last: dict[tuple[str, str, str, int], Label] = {}
    for label in labels:
        last[label.slot] = label
    return tuple(label for label in last.values() if label.label is not None)


def _looks_like_json(content: bytes) -> bool:
    first = content.lstrip(b"\xef\xbb\xbf \t\r\n\0")[:1]
    return first in (b"", b"{")


def _from_lines(path: Path, content: bytes) -> Labels:
    said: list[Label] = []
    torn = 0
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            if not _is_torn(line):
                raise NotLabels(f"line {number} of {path} is no label: not JSON") from None
            torn += 1
            continue
        said.append(_label(record, f"line {number} of {path}"))
    return Labels(settle(said), torn)


def _is_torn(line: bytes) -> bool:
    """Cut off in the middle of a write, or, after a power cut, never filled."""
    return line.startswith(_OPENING[: len(line)]) or b"\0" in line


def _from_csv(path: Path, content: str) -> Labels:
    rows = csv.DictReader(io.StringIO(content, newline=""))
    missing = [name for name in _CSV_COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise NotLabels(f"{path} holds no labels: neither JSON lines nor a CSV with the column {missing[0]}")
    # Rows have no time: several of one rater on one post are several labels, and none replaces another.
    return Labels(
        tuple(
            Label(row["key"], row["scheme"], row["label"], row["rater"] or "final", source=row.get("source") or "")
            for row in rows
            if row["key"] and row["label"]
        )
    )


def _record(label: Label) -> dict[str, Any]:
    record: dict[str, Any] = {"key": label.key, "codebook": label.codebook, "label": label.label}
    if label.second is not None:
        record["second"] = label.second
    return {**record, "rater": label.rater, "round": label.round, "at_ms": label.at_ms}


def _label(record: Any, where: str) -> Label:
    if not isinstance(record, dict):
        raise NotLabels(f"{where} is no label: not a JSON object")
    for name in ("key", "codebook", "rater"):
        if not isinstance(record.get(name), str) or not record[name]:
            raise NotLabels(f"{where} is no label: {name!r} must be a text")
    for name in ("label", "second"):
        if not isinstance(record.get(name), str | None):
            raise NotLabels(f"{where} is no label: {name!r} must be a text or null")
    if "label" not in record:
        raise NotLabels(f"{where} is no label: 'label' is missing")
    for name in ("round", "at_ms"):
        if not isinstance(record.get(name, 0), int):
            raise NotLabels(f"{where} is no label: {name!r} must be a whole number")
    return Label(
        key=record["key"],
        codebook=record["codebook"],
        label=record["label"],
        rater=record["rater"],
        round=record.get("round", 1),
        at_ms=record.get("at_ms", 0),
        second=record.get("second"),
    )


def _write_whole(descriptor: int, line: bytes, end: int) -> None:
    """All of it or nothing: a full disk leaves the file as it was."""
    written = 0
    try:
        while written < len(line):
            written += os.write(descriptor, line[written:])
    except OSError:
        if written:
            os.ftruncate(descriptor, end)
        raise


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    if os.name != "posix":
        yield
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _sync_folder(folder: Path) -> None:
    """A new file survives a power cut only once its folder is on disk too."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
