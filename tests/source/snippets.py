"""Runs the checks on a snippet of code."""

from __future__ import annotations

import textwrap
from pathlib import Path

from sleuth.findings import Finding
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project


def examined(code: str, folder: Path | None = None) -> tuple[Finding, ...]:
    """All findings in a snippet, hints included."""
    root = folder or Path("/nowhere")
    path = root / "snippet.py"
    result = examine(Unit(str(path), textwrap.dedent(code).lstrip("\n"), "snippet.py"), Project(root))
    assert result.problem is None, result.problem
    assert not result.broken, result.broken
    return result.findings


def findings(code: str, hints: bool = False, folder: Path | None = None) -> list[tuple[str, int]]:
    """The diagnosis and line of each finding."""
    return [
        (finding.diagnosis, finding.place.line)
        for finding in examined(code, folder)
        if finding.place is not None and (hints or finding.severity != "note")
    ]
