"""What is examined as one: a file, or the cells of a notebook one after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path, uri_scheme
from pygls.workspace import TextDocument

from sleuth.findings import Edit, Finding, Place
from sleuth.integrations.lsp.positions import Ruler
from sleuth.program import silences
from sleuth.report.excerpt import Span
from sleuth.source.magics import as_python

NOTEBOOK = ".ipynb"
_SCHEMES = ("file", "untitled", "vscode-notebook-cell")


@dataclass(frozen=True, slots=True)
class Part:
    """One document of the client: a whole file, or one cell. `before` lines of the subject come before it."""

    uri: str
    version: int | None
    ruler: Ruler
    before: int = 0

    def span(self, place: Place) -> Span:
        end = None if place.end_line is None else place.end_line - self.before
        return self.ruler.span(replace(place, line=place.line - self.before, end_line=end))

    def text_edit(self, edit: Edit) -> types.TextEdit:
        return self.ruler.text_edit(replace(edit, line=edit.line - self.before, end_line=edit.end_line - self.before))


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing to examine, as the editor holds it now."""

    path: str
    text: str
    parts: tuple[Part, ...]
    cell_ends: frozenset[int] = frozenset()

    def same_as(self, other: Subject) -> bool:
        return self.text == other.text and self._layout == other._layout

    @property
    def _layout(self) -> list[tuple[str, int]]:
        return [(part.uri, part.before) for part in self.parts]

    def silences(self, finding: Finding) -> bool:
        """Does a comment on one of the finding's lines say so?"""
        place = finding.place
        if place is None:
            return False
        lines = self.text.split("\n")[place.line - 1 : place.end_line or place.line]
        return any(silences(line, finding.diagnosis) for line in lines)

    def part_at(self, line: int) -> Part:
        """The part that holds a line; lines count from 1."""
        return next((part for part in reversed(self.parts) if part.before < line), self.parts[0])

    def part_written(self, first: int, last: int) -> Part | None:
        """The part in which these lines stand as they were examined. None over two cells, or where a magic was."""
        part = self.part_at(first)
        written = part.ruler.lines[first - part.before - 1 : last - part.before]
        return part if written == self.text.split("\n")[first - 1 : last] else None

    def part_of(self, uri: str) -> Part | None:
        # Clients are not of one mind on which letters of an address to escape.
        wanted = unquote(uri)
        return next((part for part in self.parts if unquote(part.uri) == wanted), None)


def is_python(document: TextDocument) -> bool:
    readable = uri_scheme(document.uri) in _SCHEMES
    return readable and (document.language_id == "python" or document.path.endswith((".py", ".pyw")))


def path_of(uri: str, root: str) -> str:
    """The absolute path of a document; one that was never saved lies in the root."""
    return os.path.abspath(os.path.join(root, to_fs_path(uri) or os.path.basename(uri)))


def of(path: str, documents: Sequence[TextDocument]) -> Subject:
    """The subject at a path: of one document, or of the cells of a notebook with their magics left out."""
    if not path.endswith(NOTEBOOK):
        (document,) = documents
        ruler = Ruler(document.source, document.position_codec)
        return Subject(path, ruler.text, (Part(document.uri, document.version, ruler),))
    parts: list[Part] = []
    lines: list[str] = []
    ends: list[int] = []
    for cell in documents:
        ruler = Ruler(cell.source, cell.position_codec)
        parts.append(Part(cell.uri, cell.version, ruler, before=len(lines)))
        lines += as_python(ruler.text).split("\n")
        ends.append(len(lines))
    return Subject(path, "\n".join((*lines, "")), tuple(parts), frozenset(ends))
