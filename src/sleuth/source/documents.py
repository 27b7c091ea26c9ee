"""A file to check: its bytes as text, the findings in it as its reader sees them, and what an edit makes of it."""

from __future__ import annotations

import codecs
import io
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sleuth import editing
from sleuth import notebook as notebooks
from sleuth.findings import Edit, Finding
from sleuth.source.notebook import Joined, join
from sleuth.source.syntax import parsed

# Longer texts are generated, and their tree alone would take gigabytes.
LONGEST = 5_000_000


class Unreadable(Exception):
    """The bytes are no program; `str()` of it is the one line to show."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Python file. `raw` has the line ends of the file."""

    path: str
    shown: str
    raw: str
    encoding: str
    cell_ends: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        return editing.with_plain_ends(self.raw)

    def placed(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings as told to the reader."""
        return tuple(findings)

    def placed_problem(self, problem: str) -> str:
        return problem

    def pages(self) -> dict[str, str]:
        """The texts that a reader sees, by what places in them are called."""
        return {self.shown: self.raw}

    def edited(self, edits: Iterable[Edit]) -> Script | None:
        """The file after these edits, or None where they do not fit it or it would no longer be Python."""
        raw = editing.apply(self.raw, edits)
        if raw is None or parsed(editing.with_plain_ends(raw)) is None or not _fits(raw, self.encoding):
            return None
        return replace(self, raw=raw)

    def data(self) -> bytes:
        return self.raw.encode(self.encoding)


@dataclass(frozen=True, slots=True)
class NotebookFile:
    """A Jupyter notebook."""

    path: str
    shown: str
    notebook: notebooks.Notebook
    marked: bool
    _joined: Joined = field(repr=False)

    @property
    def raw(self) -> str:
        return self.notebook.json

    @property
    def text(self) -> str:
        return self._joined.text

    @property
    def cell_ends(self) -> frozenset[int]:
        return self._joined.cell_ends

    def placed(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return self._joined.in_cells(findings, self.shown)

    def placed_problem(self, problem: str) -> str:
        return self._joined.problem_in_cell(problem, self.shown)

    def pages(self) -> dict[str, str]:
        return {notebooks.name_of(self.shown, cell.number): cell.text for cell in self.notebook.cells}

    def edited(self, edits: Iterable[Edit]) -> NotebookFile | None:
        """The notebook after these edits of its cells."""
        of_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            number = notebooks.split_name(edit.path)[1]
            if number is None:
                return None
            of_cell.setdefault(number, []).append(edit)
        changed = self.notebook
        for number, group in of_cell.items():
            cell = changed.cell(number)
            text = None if cell is None else editing.apply(cell.text, group)
            if text is None:
                return None
            changed = changed.with_text(number, text)
        joined = join(changed)
        return replace(self, notebook=changed, _joined=joined) if parsed(joined.text) is not None else None

    def data(self) -> bytes:
        return codecs.BOM_UTF8 * self.marked + self.notebook.json.encode("utf-8")


Document = Script | NotebookFile


class Lines:
    """What is written on the lines of files: of documents at hand as these have it, of others as the disk does."""

    def __init__(self, at_hand: Mapping[str, Document] | None = None) -> None:
        self._documents: dict[str, Document | None] = dict(at_hand or {})
        self._pages: dict[tuple[str, int | None], list[str]] = {}

    def at(self, path: str, cell: int | None, line: int) -> str:
        """One line, empty where there is none."""
        if (path, cell) not in self._pages:
            self._pages[path, cell] = self._read(path, cell)
        lines = self._pages[path, cell]
        return lines[line - 1] if 1 <= line <= len(lines) else ""

    def _read(self, path: str, cell: int | None) -> list[str]:
        if path not in self._documents:
            try:
                self._documents[path] = read(path, path)
            except Unreadable:
                self._documents[path] = None
        document = self._documents[path]
        if document is None:
            return []
        name = document.shown if cell is None else notebooks.name_of(document.shown, cell)
        return editing.with_plain_ends(document.pages().get(name, "")).split("\n")


def read(path: str, shown: str) -> Document:
    """The file as a document. Raises Unreadable."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unreadable(f"{shown}: {error.strerror}") from None
    return from_bytes(data, path, shown)


def is_faithful(document: Document) -> bool:
    """Would writing the document give its file back, byte by byte?"""
    try:
        with open(document.path, "rb") as file:
            return file.read() == document.data()
    except (OSError, ValueError):
        return False


def from_bytes(data: bytes, path: str, shown: str) -> Document:
    """The document with these bytes. Raises Unreadable."""
    document = _notebook(data, path, shown) if path.endswith(".ipynb") else _script(data, path, shown)
    if len(document.text) > LONGEST:
        raise Unreadable(f"{shown} holds more than {LONGEST // 1_000_000} million letters of code and was not examined")
    return document


def _script(data: bytes, path: str, shown: str) -> Script:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return Script(path, shown, data.decode(encoding), encoding)
    except (SyntaxError, LookupError, ValueError) as error:
        raise Unreadable(f"{shown} cannot be read as Python: {error}") from None


def _notebook(data: bytes, path: str, shown: str) -> NotebookFile:
    marked = data.startswith(codecs.BOM_UTF8)
    try:
        found = notebooks.parse(data.decode("utf-8-sig"))
        if not found.is_python:
            found = replace(found, cells=())
        return NotebookFile(path, shown, found, marked, join(found))
    except ValueError as error:
        raise Unreadable(f"{shown} cannot be read as a notebook: {error}") from None


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
