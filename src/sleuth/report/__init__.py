"""The same findings in five voices: a person's terminal, one line each, JSON, SARIF and GitHub annotations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sleuth.findings import Report

FORMATS = ("terminal", "concise", "json", "sarif", "github")


@dataclass(frozen=True, slots=True)
class Aside:
    """What a command has to say besides its findings: a last line for people, what it could not do, counts, and
    under names of its own what only a program would read."""

    closing: str = ""
    problems: tuple[str, ...] = ()
    statistics: Mapping[str, int] | None = None
    more: Mapping[str, Any] | None = None


def render(
    report: Report,
    format: str,
    *,
    colour: bool = False,
    width: int | None = None,
    root: Path | None = None,
    compact: bool = False,
    aside: Aside | None = None,
) -> str:
    """The report as text without a final newline. `root` is the folder the places are relative to.

    `compact` tells each finding in a few lines, for a command that has many."""
    folder = Path.cwd() if root is None else root
    aside = aside or Aside()
    if format == "terminal":
        from sleuth.report import terminal

        return terminal.render(report, colour=colour, width=width, root=folder, compact=compact, closing=aside.closing)
    if format == "concise":
        from sleuth.report import concise

        return concise.render(report, aside.closing)
    if format == "json":
        from sleuth.report import json_

        return json_.render(report, aside.problems, aside.statistics, aside.more)
    if format == "sarif":
        from sleuth.report import sarif

        return sarif.render(report, root=folder, problems=aside.problems)
    if format == "github":
        from sleuth.report import github

        return github.render(report, root=folder)
    raise ValueError(f"there is no report format {format!r}; choose one of {', '.join(FORMATS)}")
