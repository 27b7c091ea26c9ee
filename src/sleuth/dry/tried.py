"""Fixes are tried: the program with a fix's edits made is rehearsed again, and what does not mend it is not told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sleuth.dry.journal import Outcome
from sleuth.findings import Edit, Finding, Fix

# More ways out than these are not tried.
_MOST = 3
Again = Callable[[tuple[Edit, ...]], Outcome]
_Seen = tuple[str, str, int]


def with_fixes_tried(found: list[Finding], again: Again) -> list[Finding]:
    """The findings; a fix that ends the trouble, and brings no other, is verified."""
    return [_tried(finding, found, again) for finding in found]


def _tried(finding: Finding, found: list[Finding], again: Again) -> Finding:
    others = {one.diagnosis for one in found if one is not finding}
    fixes: list[Fix] = []
    for number, fix in enumerate(finding.fixes):
        if not fix.edits or number >= _MOST:
            fixes.append(fix)
            continue
        outcome = again(fix.edits)
        if _seen(finding) in map(_seen, outcome.findings):
            continue
        met = {one.diagnosis for one in outcome.findings}
        fixes.append(replace(fix, verified=outcome.how == "ended" and met <= others))
    return replace(finding, fixes=tuple(fixes))


def _seen(finding: Finding) -> _Seen:
    """By its line: an edit may move its column."""
    place = finding.place
    return (finding.diagnosis, "", 0) if place is None else (finding.diagnosis, place.path, place.line)
