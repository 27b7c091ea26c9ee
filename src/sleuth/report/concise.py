"""A report of one line a finding, for a long list, `grep`, and editors that jump to `path:line:column`."""

from __future__ import annotations

from sleuth.findings import Finding, Report
from sleuth.report import wording


def render(report: Report, closing: str = "") -> str:
    """The findings in their order, the hints after all others."""
    faults = [_line(finding) for finding in report.findings if finding.certainty != "hint"]
    hints = [_line(finding) for finding in report.findings if finding.certainty == "hint"]
    return "\n".join((*faults, *hints, closing or wording.summary(report.findings)))


def _line(finding: Finding) -> str:
    where = "" if finding.place is None else f"{wording.where(finding.place)}: "
    name = f"{finding.severity}[{wording.clean(finding.diagnosis)}]"
    return " ".join(filter(None, [f"{where}{name}", wording.sentence(finding.title), wording.when(finding)]))
