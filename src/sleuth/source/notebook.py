"""A notebook as one text to examine: its code cells one after the other, and the way back into the cells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sleuth import editing
from sleuth.findings import Edit, Finding, Fix, Link, Place
from sleuth.notebook import Notebook, name_of
from sleuth.source.magics import as_python
from sleuth.source.syntax import parsed


@dataclass(frozen=True, slots=True)
class Joined:
    """The code cells as one text. `origin` tells the cell of each line and its number there."""

    text: str
    origin: tuple[tuple[int, int], ...]
    cell_ends: frozenset[int]
    replaced: frozenset[int]

    def in_cells(self, findings: Iterable[Finding], shown: str) -> tuple[Finding, ...]:
        """The findings in this text, each told by cell. `shown` is what the text was called."""
        return tuple(self._finding(finding, shown) for finding in findings)

    def problem_in_cell(self, problem: str, shown: str) -> str:
        """`nb.ipynb:12:3: ...` told by cell."""
        told = re.fullmatch(rf"(?s){re.escape(shown)}:(\d+)(.*)", problem)
        if told is None or not 1 <= int(told[1]) <= len(self.origin):
            return problem
        cell, line = self.origin[int(told[1]) - 1]
        return f"{name_of(shown, cell)}:{line}{told[2]}"

    def _finding(self, finding: Finding, shown: str) -> Finding:
        return replace(
            finding,
            place=self._place(finding.place, shown),
            chain=tuple(Link(link.what, self._place(link.place, shown)) for link in finding.chain),
            fixes=tuple(self._fix(fix, shown) for fix in finding.fixes),
        )

    def _place(self, place: Place | None, shown: str) -> Place | None:
        if place is None or place.path != shown or not 1 <= place.line <= len(self.origin):
            return place
        cell, line = self.origin[place.line - 1]
        end_line = None if place.end_line is None else line + place.end_line - place.line
        return replace(place, path=name_of(shown, cell), line=line, end_line=end_line)

    def _fix(self, fix: Fix, shown: str) -> Fix:
        """A fix that cannot be made inside the cells is only told."""
        edits = tuple(self._edit(edit) if edit.path == shown else edit for edit in fix.edits)
        possible = tuple(edit for edit in edits if edit is not None)
        return replace(fix, edits=possible if len(possible) == len(edits) else ())

    def _edit(self, edit: Edit) -> Edit | None:
        if not 1 <= edit.line <= edit.end_line <= len(self.origin) + 1:
            return None
        if self.replaced & set(range(edit.line, edit.end_line + (edit.end_column > 1))):
            return None
        edit = self._within_its_cell(edit)
        if edit.end_line > len(self.origin):
            return None
        (cell, line), (end_cell, end_line) = self.origin[edit.line - 1], self.origin[edit.end_line - 1]
        return replace(edit, path=name_of(edit.path, cell), line=line, end_line=end_line) if cell == end_cell else None

    def _within_its_cell(self, edit: Edit) -> Edit:
        """A whole last line of a cell has no line end: without the line, the line end before it goes."""
        if edit.end_column > 1 or edit.end_line == edit.line:
            return edit
        last = edit.end_line - 1
        if edit.end_line <= len(self.origin) and self.origin[last - 1][0] == self.origin[edit.end_line - 1][0]:
            return edit
        lines = self.text.split("\n")
        edit = replace(edit, end_line=last, end_column=len(lines[last - 1]) + 1)
        if edit.replacement.endswith("\n"):
            return replace(edit, replacement=edit.replacement[:-1])
        if edit.replacement or edit.column > 1 or self.origin[edit.line - 1][1] == 1:
            return edit
        return replace(edit, line=edit.line - 1, column=len(lines[edit.line - 2]) + 1)


def join(notebook: Notebook) -> Joined:
    """All code cells as one text."""
    lines: list[str] = []
    origin: list[tuple[int, int]] = []
    ends: set[int] = set()
    replaced: set[int] = set()
    for cell in notebook.cells:
        written = editing.with_plain_ends(cell.text)
        python = as_python(written)
        before = len(lines)
        for number, (was, line) in enumerate(zip(written.split("\n"), python.split("\n"), strict=True), 1):
            lines.append(line)
            origin.append((cell.number, number))
            if was != line:
                replaced.add(len(lines))
        ends.add(before + _last_line(python))
    return Joined("\n".join(lines) + "\n" * bool(lines), tuple(origin), frozenset(ends), frozenset(replaced))


def _last_line(python: str) -> int:
    """The line on which the last statement of a cell ends."""
    tree = parsed(python)
    if tree is None or not tree.body:
        return python.count("\n") + 1
    return tree.body[-1].end_lineno or 1
