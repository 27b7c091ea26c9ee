"""What a reader said of a finding: true or false, and why in a few words of our own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from precision.examination import Found

LABELS = Path(__file__).with_name("labels.json")
FIELDS = ("corpus", "version", "path", "line", "diagnosis", "digest")


@dataclass(frozen=True)
class Label:
    true: bool
    reason: str


class BadLabel(ValueError):
    """A line that is no label; `str()` of it says why."""


class Labels:
    """All labels, kept in a file of one line each, with no word of the code that they are about."""

    def __init__(self, path: Path = LABELS) -> None:
        self._path = path
        entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        self._labels = {
            tuple(entry[field] for field in FIELDS): Label(entry["true"], entry["reason"]) for entry in entries
        }

    def get(self, found: Found) -> Label | None:
        return self._labels.get(found.key)

    def put(self, found: Found, label: Label) -> None:
        self._labels[found.key] = label

    def write(self) -> None:
        entries = [
            json.dumps({**dict(zip(FIELDS, key, strict=True)), "true": label.true, "reason": label.reason})
            for key, label in sorted(self._labels.items(), key=lambda item: tuple(map(str, item[0])))
        ]
        self._path.write_text("[\n" + ",\n".join(entries) + "\n]\n", encoding="utf-8")


def parsed(lines: Iterable[str], known: Iterable[Found]) -> list[tuple[Found, Label]]:
    """Lines such as `3f09a1c2d4 false the value is clamped in the caller`. Raises BadLabel."""
    by_id = {found.id: found for found in known}
    labels = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        number, verdict, reason = (*line.split(maxsplit=2), "", "")[:3]
        if number not in by_id:
            raise BadLabel(f"no finding of the last run has the number {number!r}")
        if verdict not in ("true", "false"):
            raise BadLabel(f"{number}: {verdict!r} is neither true nor false")
        if not reason.strip():
            raise BadLabel(f"{number}: say why in a few words")
        labels.append((by_id[number], Label(verdict == "true", reason.strip())))
    return labels
