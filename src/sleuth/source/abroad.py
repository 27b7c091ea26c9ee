"""What an examination says about other files than its own: named as the user would, and silent where they said so."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from sleuth import program
from sleuth.findings import Edit, Finding, Link, Place
from sleuth.notebook import split_name
from sleuth.source.documents import Lines


def settled(findings: Iterable[Finding], shown: str, lines: Lines) -> tuple[Finding, ...]:
    """The findings of the file called `shown`. Comments in that file have been heard already."""
    named = map(_named, findings)
    return tuple(finding for finding in named if not _is_silenced(finding, shown, lines))


def _named(finding: Finding) -> Finding:
    return replace(
        finding,
        place=_place(finding.place),
        chain=tuple(Link(link.what, _place(link.place)) for link in finding.chain),
        fixes=tuple(replace(fix, edits=tuple(map(_edit, fix.edits))) for fix in finding.fixes),
    )


def _place(place: Place | None) -> Place | None:
    return place if place is None or not os.path.isabs(place.path) else replace(place, path=_shown(place.path))


def _edit(edit: Edit) -> Edit:
    return edit if not os.path.isabs(edit.path) else replace(edit, path=_shown(edit.path))


def _shown(path: str) -> str:
    return program.shown_path(path)


def _is_silenced(finding: Finding, shown: str, lines: Lines) -> bool:
    place = finding.place
    if place is None or split_name(place.path)[0] == shown:
        return False
    path = os.path.abspath(place.path)
    last = place.end_line or place.line
    return any(program.silences(lines.at(path, None, line), finding.diagnosis) for line in range(place.line, last + 1))
