"""A finding as the page shows it: in words, with the source it speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sleuth import kernel
from sleuth.findings import Edit, Finding, Fix, Link, Place
from sleuth.report import edits, excerpt, wording

# A whole printed tensor would bury everything else.
_LONGEST_VALUE = 600


def told(finding: Finding, root: Path) -> dict[str, Any]:
    return {
        "diagnosis": finding.diagnosis,
        "title": wording.sentence(finding.title),
        "certainty": finding.certainty,
        "severity": finding.severity,
        "step": finding.step,
        "ranks": [] if finding.rank is None else [finding.rank],
        "where": None if finding.place is None else wording.where(finding.place),
        "source": _source(finding.place, root),
        "evidence": [[wording.sentence(item.name), _shortened(wording.value(item.value))] for item in finding.evidence],
        "chain": [_link(link, before) for before, link in zip((None, *finding.chain), finding.chain, strict=False)],
        "fixes": [_fix(fix, root) for fix in finding.fixes],
    }


def key(finding: Finding) -> tuple[Any, ...]:
    """What makes findings of several ranks the same one."""
    place = finding.place
    return finding.diagnosis, finding.title, None if place is None else (place.path, place.line)


def _source(place: Place | None, root: Path) -> list[dict[str, Any]]:
    if place is None:
        return []
    # A record can name any file; only source belongs on a page that may be handed on.
    rows = excerpt.rows(place, root if _is_source(place.path) else root / "\0")
    return [{"number": row.number, "text": row.text, "mark": row.mark, "inside": row.inside} for row in rows]


def _is_source(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".pyw", ".ipynb")) or kernel.is_cell(path)


def _link(link: Link, before: Link | None) -> dict[str, Any]:
    """What happens in one place after another names it once."""
    place = None if before is not None and link.place == before.place else link.place
    return {
        "what": wording.sentence(link.what),
        "where": None if place is None else wording.where(place),
        "code": None if place is None or not place.code else wording.sentence(place.code),
    }


def _fix(fix: Fix, root: Path) -> dict[str, Any]:
    changes = edits.diff(fix.edits, root) if all(_is_source(edit.path) for edit in fix.edits) else None
    lines = [line for edit in fix.edits for line in _in_words(edit)] if changes is None else changes
    return {
        "title": wording.sentence(fix.title),
        "verified": fix.verified,
        "tried": wording.tried(fix).strip(" ()"),
        "diff": [wording.clean(line) for line in lines],
    }


def _in_words(edit: Edit) -> list[str]:
    """An edit of a file that cannot be read or has changed."""
    return [
        f"@@ {wording.where(Place(edit.path, edit.line, edit.column))} to {edit.end_line}:{edit.end_column} @@",
        *(f"+{line}" for line in edit.replacement.strip("\n").split("\n") if edit.replacement),
    ]


def _shortened(words: str) -> str:
    words = "\n".join(wording.clean(line.rstrip()) for line in words.strip().split("\n"))
    return words if len(words) <= _LONGEST_VALUE else words[:_LONGEST_VALUE] + "…"
