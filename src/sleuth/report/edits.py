"""A fix as a unified diff of the user's file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from sleuth.findings import Edit
from sleuth.report.excerpt import read
from sleuth.report.wording import posix

CONTEXT = 2


def by_file(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    """The edits of each file, top to bottom."""
    files: dict[str, list[Edit]] = {}
    for edit in edits:
        files.setdefault(edit.path, []).append(edit)
    return {path: sorted(group, key=_start) for path, group in files.items()}


def diff(edits: Iterable[Edit], root: Path) -> tuple[str, ...] | None:
    """The lines of the diff, or None where an edit does not fit its file."""
    shown: list[str] = []
    for path, group in by_file(edits).items():
        before = read(path, root)
        after = None if before is None else apply(before, group)
        if before is None or after is None:
            return None
        name = posix(path)
        shown += difflib.unified_diff(_lines(before), _lines(after), name, name, n=CONTEXT, lineterm="")
    return tuple(shown)


def apply(text: str, edits: Iterable[Edit]) -> str | None:
    """The text with the edits made, or None where one lies outside it or two overlap."""
    lines = text.split("\n")
    ordered = sorted(edits, key=_start)
    spans = [(_offset(lines, e.line, e.column), _offset(lines, e.end_line, e.end_column)) for e in ordered]
    pieces: list[str] = []
    done = 0
    for (start, end), edit in zip(spans, ordered, strict=True):
        if start is None or end is None or start < done or end < start:
            return None
        pieces += (text[done:start], edit.replacement)
        done = end
    return "".join((*pieces, text[done:]))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _start(edit: Edit) -> tuple[int, int]:
    return edit.line, edit.column


def _offset(lines: list[str], line: int, column: int) -> int | None:
    if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
        return None
    return sum(len(earlier) + 1 for earlier in lines[: line - 1]) + column - 1
