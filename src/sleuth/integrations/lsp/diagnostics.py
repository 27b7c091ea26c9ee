"""Findings as the marks an editor draws."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol import types

from sleuth.findings import Finding, Link
from sleuth.integrations.lsp.abilities import Abilities
from sleuth.integrations.lsp.atlas import Atlas
from sleuth.integrations.lsp.subjects import Part, Subject
from sleuth.report import wording
from sleuth.report.excerpt import Span

SOURCE = "sleuth"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_PROBLEM = re.compile(r"(?::(?P<line>\d+))?(?::(?P<column>\d+))?: (?P<what>[^:].*)$", re.DOTALL)


def by_document(
    subject: Subject, findings: Iterable[Finding], problem: str | None, atlas: Atlas, abilities: Abilities
) -> dict[Part, list[types.Diagnostic]]:
    """The marks of each document of a subject, also of those that have none."""
    marks: dict[Part, list[types.Diagnostic]] = {part: [] for part in subject.parts}
    for finding in findings:
        part, span = spot(finding, subject)
        marks[part].append(diagnostic(finding, part, span, atlas, abilities))
    if problem is not None and subject.parts:
        part, mark = _unreadable(problem, subject)
        marks[part].append(mark)
    return marks


def spot(finding: Finding, subject: Subject) -> tuple[Part, Span]:
    """Where a finding is marked. What speaks of no line is said at the first."""
    if finding.place is None:
        return subject.parts[0], Span(1, 1, 1, len(subject.parts[0].ruler.lines[0]) + 1)
    part = subject.part_at(finding.place.line)
    return part, part.span(finding.place)


def diagnostic(finding: Finding, part: Part, span: Span, atlas: Atlas, abilities: Abilities) -> types.Diagnostic:
    deprecated = finding.root_cause == "api-change" and abilities.deprecated_tag
    return types.Diagnostic(
        range=part.ruler.range(span),
        message=_message(finding, abilities),
        severity=_severity(finding),
        code=finding.diagnosis,
        source=SOURCE,
        tags=[types.DiagnosticTag.Deprecated] if deprecated else None,
        related_information=_related(finding.chain, atlas) if abilities.related_information else None,
    )


def _severity(finding: Finding) -> types.DiagnosticSeverity:
    if finding.severity == "note" and finding.certainty == "hint":
        return types.DiagnosticSeverity.Hint
    return _SEVERITIES[finding.severity]


def _message(finding: Finding, abilities: Abilities) -> str:
    """The title, then the sentences of the story that no related place will tell, then what to try."""
    untold = [link for link in finding.chain if link.place is None or not abilities.related_information]
    lines = [finding.title, *map(wording.step_of, untold)]
    lines += (f"Try: {fix.title}" for fix in finding.fixes)
    return "\n".join(map(wording.sentence, lines))


def _related(chain: tuple[Link, ...], atlas: Atlas) -> list[types.DiagnosticRelatedInformation] | None:
    told = [(link.what, atlas.location(link.place)) for link in chain if link.place is not None]
    return [
        types.DiagnosticRelatedInformation(location, wording.sentence(what)) for what, location in told if location
    ] or None


def _unreadable(problem: str, subject: Subject) -> tuple[Part, types.Diagnostic]:
    """Why there are no findings, said quietly: the editor's own Python support tells of syntax errors louder."""
    told = _PROBLEM.search(problem)
    line, column = (int(told[name] or 1) for name in ("line", "column")) if told else (1, 1)
    what = told["what"] if told else problem
    part = subject.part_at(line)
    text = part.ruler.lines[min(line - part.before, len(part.ruler.lines)) - 1]
    span = Span(line - part.before, min(column, max(1, len(text))), line - part.before, len(text) + 1)
    mark = types.Diagnostic(
        range=part.ruler.range(span),
        message=f"not examined: {wording.sentence(what)}",
        severity=types.DiagnosticSeverity.Information,
        source=SOURCE,
    )
    return part, mark
