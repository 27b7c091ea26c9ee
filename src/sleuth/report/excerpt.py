"""The lines of the user's source around a place, and which stretch of them is meant."""

from __future__ import annotations

import re
import textwrap
import tokenize
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from sleuth import editing, kernel, notebook
from sleuth.findings import Place
from sleuth.report.wording import clean

BEFORE, AFTER = 2, 1
# A longer expression is shown by its first and last lines.
_LONGEST, _HEAD, _TAIL = 7, 4, 2


@dataclass(frozen=True, slots=True)
class Span:
    """Where an expression stands in its file: counted from 1, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Row:
    """One line to show: `mark` is the stretch to underline, `inside` says that a longer expression runs through it.

    Without a `number` the row stands for lines left out.
    """

    number: int | None
    text: str
    mark: tuple[int, int] | None = None
    inside: bool = False


def read(path: str, root: Path) -> str | None:
    """The text of a file as Python would read it, or of a cell of a notebook, or None."""
    if kernel.is_cell(path):
        return kernel.text_of(path)
    name, number = notebook.split_name(path)
    if number is not None:
        found = _notebook(name, root)
        cell = None if found is None else found.cell(number)
        return None if cell is None else editing.with_plain_ends(cell.text)
    try:
        file = root / path
        if not file.is_file():
            return None
        with tokenize.open(file) as source:
            return source.read()
    except (OSError, SyntaxError, ValueError):
        return None


def in_file(place: Place, root: Path) -> Place:
    """The place as its file has it: for readers who know lines of a notebook's JSON, not cells."""
    name, number = notebook.split_name(place.path)
    if number is None:
        return place
    found = _notebook(name, root)
    line = 1 if found is None else found.line_in_file(number, place.line)
    return replace(place, path=name, line=line, column=None, end_line=None)


def _notebook(name: str, root: Path) -> notebook.Notebook | None:
    try:
        about = (root / name).stat()
        return _parsed(str(root / name), about.st_mtime_ns, about.st_size)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4)
def _parsed(file: str, changed: int, size: int) -> notebook.Notebook:
    with open(file, encoding="utf-8-sig", newline="") as source:
        return notebook.parse(source.read())


def locate(place: Place, text: str) -> Span | None:
    """Where the place's code stands, or None where the file no longer says what the place says."""
    lines = text.split("\n")
    if not 1 <= place.line <= len(lines):
        return None
    if place.code and place.code.strip():
        return _find(place, place.code, lines)
    line = lines[place.line - 1]
    indent = len(line) - len(line.lstrip())
    end_line = max(place.line, min(place.end_line or place.line, len(lines)))
    if end_line == place.line and place.column is not None:
        return Span(place.line, place.column, place.line, place.column + 1)
    end = len(lines[end_line - 1].rstrip())
    return Span(place.line, place.column or indent + 1, end_line, end + 1)


def _find(place: Place, code: str, lines: list[str]) -> Span | None:
    """The code nearest to the place's column; line breaks and indentation may differ."""
    rest = "\n".join(lines[place.line - 1 :])
    pattern = re.compile(r"\s+".join(map(re.escape, code.split())))
    start, end = _nearest(pattern, rest, len(lines[place.line - 1]), (place.column or 1) - 1)
    if end == 0:
        return None
    return Span(place.line, start + 1, place.line + rest.count("\n", 0, end), end - rest.rfind("\n", 0, end))


def _nearest(pattern: re.Pattern[str], text: str, before: int, wanted: int) -> tuple[int, int]:
    """Of the matches that begin `before` the line ends, the one nearest to where it is wanted; (0, 0) without any."""
    exact = pattern.match(text, wanted) if wanted < before else None
    if exact:
        return exact.span()
    spans = [hit.span() for hit in pattern.finditer(text) if hit.start() < before]
    return min(spans, key=lambda span: abs(span[0] - wanted), default=(0, 0))


def rows(place: Place, root: Path, *, before: int = BEFORE, after: int = AFTER) -> tuple[Row, ...]:
    """The source around the place; only its own code where the file cannot be read or has changed."""
    text = read(place.path, root)
    span = None if text is None else locate(place, text)
    if text is None or span is None:
        code = textwrap.dedent(place.code or "").strip("\n")
        return tuple(Row(place.line + i, clean(line)) for i, line in enumerate(code.split("\n")) if code)
    lines = text.split("\n")
    first, last = max(1, span.line - before), min(len(lines), span.end_line + after)
    while first < span.line and not lines[first - 1].strip():
        first += 1
    while last > span.end_line and not lines[last - 1].strip():
        last -= 1
    return _shortened(tuple(_row(number, lines[number - 1], span) for number in range(first, last + 1)))


def _row(number: int, line: str, span: Span) -> Row:
    inside = span.line < span.end_line and span.line <= number <= span.end_line
    shown = clean(line.rstrip())
    if number != span.line or not shown:
        return Row(number, shown, inside=inside)
    start = span.column - 1
    end = len(line.rstrip()) if inside else span.end_column - 1
    before, marked = clean(line[:start]), clean(line[start:end])
    return Row(number, shown, (len(before), len(before) + max(1, len(marked))), inside)


def _shortened(shown: tuple[Row, ...]) -> tuple[Row, ...]:
    inside = [index for index, row in enumerate(shown) if row.inside]
    if len(inside) <= _LONGEST:
        return shown
    return (*shown[: inside[_HEAD]], Row(None, "", inside=True), *shown[inside[-_TAIL] :])
