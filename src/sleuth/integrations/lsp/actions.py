"""Quick fixes: what the editor offers to do about a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from sleuth import editing
from sleuth.findings import Edit, Finding
from sleuth.integrations.lsp import diagnostics, ignoring
from sleuth.integrations.lsp.abilities import Abilities
from sleuth.integrations.lsp.atlas import Atlas
from sleuth.integrations.lsp.subjects import Part, Subject
from sleuth.report import wording
from sleuth.report.edits import by_file

QUICK_FIX = types.CodeActionKind.QuickFix.value
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.sleuth"
KINDS = (QUICK_FIX, FIX_ALL)


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be done about what is found in a file."""

    subject: Subject
    findings: tuple[Finding, ...]
    atlas: Atlas
    abilities: Abilities

    def for_range(self, part: Part, range: types.Range, wanted: Sequence[str] | None) -> list[types.CodeAction]:
        """The actions of the kinds the client wants, for what is found in a range of a document."""
        actions: list[types.CodeAction] = []
        if _includes(wanted, QUICK_FIX):
            for finding in self.found_at(part, range):
                actions += self._for_finding(finding)
        if _includes(wanted, FIX_ALL):
            actions += self._all()
        return actions

    def found_at(self, part: Part, range: types.Range) -> Iterator[Finding]:
        start, end = part.ruler.character(range.start), part.ruler.character(range.end)
        for finding in self.findings:
            where, span = diagnostics.spot(finding, self.subject)
            if where is part and (span.line, span.column) <= end and start <= (span.end_line, span.end_column):
                yield finding

    def _for_finding(self, finding: Finding) -> Iterator[types.CodeAction]:
        part, span = diagnostics.spot(finding, self.subject)
        mark = diagnostics.diagnostic(finding, part, span, self.atlas, self.abilities)
        preferred = next((fix for fix in finding.fixes if fix.safe and fix.edits), None)
        for fix in finding.fixes:
            edit = self._edit(fix.edits)
            if edit is not None:
                title = wording.sentence(fix.title)
                yield types.CodeAction(title, QUICK_FIX, [mark], is_preferred=fix is preferred or None, edit=edit)
        comment = ignoring.edit(finding, self.subject.text)
        edit = self._edit([comment] if comment else [])
        if edit is not None:
            yield types.CodeAction(f"Ignore {finding.diagnosis} on this line", QUICK_FIX, [mark], edit=edit)

    def _all(self) -> Iterator[types.CodeAction]:
        edit = self._edit(compatible(self.findings))
        if edit is not None:
            yield types.CodeAction("Apply all safe fixes of Sleuth", FIX_ALL, edit=edit)

    def _edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit | None:
        """What the client is to do. None where there is nothing, or a file would be left that Python cannot read."""
        chosen = tuple(edits)
        if not chosen or not all(self._stays_python(path, group) for path, group in by_file(chosen).items()):
            return None
        return self.atlas.workspace_edit(chosen, versioned=self.abilities.versioned_edits)

    def _stays_python(self, path: str, edits: Iterable[Edit]) -> bool:
        subject = self.atlas.subject(path)
        text = None if subject is None else editing.apply(subject.text, edits)
        if text is None:
            return False
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True


def compatible(findings: Iterable[Finding]) -> tuple[Edit, ...]:
    """The edits of each finding's first safe fix, leaving out a fix that touches what an earlier one does."""
    chosen: dict[Edit, None] = {}
    for finding in findings:
        fix = next((fix for fix in finding.fixes if fix.safe and fix.edits), None)
        if fix is not None and not any(_clash(new, old) for new in fix.edits for old in chosen):
            chosen.update(dict.fromkeys(fix.edits))
    return tuple(chosen)


def _clash(new: Edit, old: Edit) -> bool:
    """Two that insert at one point clash too: their order would be a guess. The same edit twice, an import, is one."""
    if new == old or new.path != old.path:
        return False
    return (new.line, new.column) <= (old.end_line, old.end_column) and (old.line, old.column) <= (
        new.end_line,
        new.end_column,
    )


def _includes(wanted: Sequence[str] | None, kind: str) -> bool:
    """`source` and `source.fixAll` both mean `source.fixAll.sleuth`."""
    # Joined by +, since an enumeration of strings is formatted by its name.
    return wanted is None or any(not one or kind == one or kind.startswith(one + ".") for one in wanted)
