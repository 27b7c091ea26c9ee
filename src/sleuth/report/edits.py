"""A fix as a unified diff of the user's file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from sleuth.editing import apply
from sleuth.findings import Edit
from sleuth.report.excerpt import read
from sleuth.report.wording import posix

__all__ = ["apply", "by_file", "diff", "patch"]
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
        # Empty lines around a change show nothing, and below it they look like the end of the report.
        while shown and not shown[-1].strip():
            shown.pop()
    return tuple(shown)


def patch(name: str, before: str, after: str) -> str:
    """A change of a whole file as `git apply` and `patch` read it."""
    lines = difflib.unified_diff(
        _with_ends(before), _with_ends(after), f"a/{posix(name)}", f"b/{posix(name)}", lineterm="\n"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _with_ends(text: str) -> list[str]:
    lines = text.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *lines[-1:]][: None if lines[-1] else -1]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _start(edit: Edit) -> tuple[int, int]:
    return edit.line, edit.column
