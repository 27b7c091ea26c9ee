"""The same findings in four voices: a person's terminal, JSON, SARIF and GitHub annotations."""

from __future__ import annotations

from pathlib import Path

from sleuth.findings import Report

FORMATS = ("terminal", "json", "sarif", "github")


def render(
    report: Report, format: str, *, colour: bool = False, width: int | None = None, root: Path | None = None
) -> str:
    """The report as text without a final newline. `root` is the folder the places are relative to."""
    folder = Path.cwd() if root is None else root
    if format == "terminal":
        from sleuth.report import terminal

        return terminal.render(report, colour=colour, width=width, root=folder)
    if format == "json":
        from sleuth.report import json_

        return json_.render(report)
    if format == "sarif":
        from sleuth.report import sarif

        return sarif.render(report, root=folder)
    if format == "github":
        from sleuth.report import github

        return github.render(report, root=folder)
    raise ValueError(f"there is no report format {format!r}; choose one of {', '.join(FORMATS)}")
