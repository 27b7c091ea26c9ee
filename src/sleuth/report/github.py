"""A report as GitHub workflow commands: each finding becomes an annotation on its line of the pull request."""

from __future__ import annotations

import os
from pathlib import Path

from sleuth.findings import Finding, Place, Report, Severity
from sleuth.report import excerpt, wording

_COMMAND: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, *, root: Path) -> str:
    groups = wording.by_certainty(report.findings)
    return "\n".join(_annotation(finding, root) for _, group in groups for finding in group)


def _annotation(finding: Finding, root: Path) -> str:
    properties: dict[str, str | int | None] = {}
    place = None if finding.place is None else excerpt.in_file(finding.place, root)
    if place is not None:
        end_line = place.end_line or place.line
        properties = {"file": _file(place, root), "line": place.line, "col": place.column, "endLine": end_line}
    properties["title"] = f"{finding.diagnosis} ({finding.certainty})"
    pairs = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
    return f"::{_COMMAND[finding.severity]} {pairs}::{_escaped(_message(finding))}"


def _message(finding: Finding) -> str:
    moment = [wording.sentence(finding.title), wording.when(finding), wording.in_cell(finding)]
    lines = [", ".join(filter(None, moment))]
    lines += (f"{wording.sentence(item.name)}: {wording.value(item.value)}" for item in finding.evidence)
    lines += map(wording.step_of, finding.chain)
    lines += (f"Try: {wording.sentence(fix.title)}{wording.tried(fix)}" for fix in finding.fixes)
    lines.append(f"More: sleuth explain {wording.clean(finding.diagnosis)}")
    return "\n".join(lines)


def _file(place: Place, root: Path) -> str:
    """The path from the top of the checkout, where GitHub starts from; the command may have run further down."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace:
        file = Path(os.path.normpath(root.resolve() / place.path))
        if file.is_relative_to(Path(workspace).resolve()):
            return file.relative_to(Path(workspace).resolve()).as_posix()
    return wording.posix(place.path)


def _escaped(text: str) -> str:
    return wording.clean(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
