"""Which of the findings the user wants to see."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sleuth.findings import Finding
from sleuth.notebook import split_name
from sleuth.source.ignoring import Patterns


@dataclass(frozen=True, slots=True)
class Selection:
    """Names to leave out, everywhere or in some files, and files to leave out."""

    ignore: frozenset[str] = frozenset()
    ignore_in: Sequence[tuple[Patterns, frozenset[str]]] = ()
    exclude: Sequence[Patterns] = ()

    def wanted(self, findings: Iterable[Finding], checked: Collection[str]) -> tuple[Finding, ...]:
        """What to tell. In an excluded file that was checked all the same, since it was named, nothing is left out."""
        return tuple(finding for finding in findings if self._wants(finding, checked))

    def _wants(self, finding: Finding, checked: Collection[str]) -> bool:
        if finding.diagnosis in self.ignore:
            return False
        if finding.place is None:
            return True
        path = os.path.abspath(split_name(finding.place.path)[0])
        if path not in checked and any(patterns.names(path) for patterns in self.exclude):
            return False
        return not any(finding.diagnosis in names and patterns.names(path) for patterns, names in self.ignore_in)


def is_hint(finding: Finding) -> bool:
    """Advice rather than a fault: shown on request only, so that certainties and hints never mix."""
    return finding.certainty == "hint" or finding.severity == "note"
