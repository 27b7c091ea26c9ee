"""Jupyter notebooks as files: their code cells, where each line stands in the JSON, and a cell written back into it.

A place in a notebook is called `train.ipynb:cell 3`: cells count from 1, text cells too, as on the page."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_NAME = re.compile(r"(?s)(.+\.ipynb):cell ([1-9]\d*)")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
Span = tuple[int, int]


class NotANotebook(ValueError):
    """The text is no notebook; `str()` of it says why."""


def name_of(path: str, cell: int) -> str:
    return f"{path}:cell {cell}"


def split_name(path: str) -> tuple[str, int | None]:
    """The file a path means, and the cell of it where it means one."""
    named = _NAME.fullmatch(path)
    return (path, None) if named is None else (named[1], int(named[2]))


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. `span` is where its source stands in the JSON, `strings` where each string of it does."""

    number: int
    text: str
    span: Span
    strings: tuple[Span, ...]
    is_list: bool


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's JSON and its code cells."""

    json: str
    cells: tuple[Cell, ...]
    is_python: bool

    def cell(self, number: int) -> Cell | None:
        return next((cell for cell in self.cells if cell.number == number), None)

    def line_in_file(self, number: int, line: int) -> int:
        """The line of the file on which a line of a cell is written; 1 where there is no such cell."""
        cell = self.cell(number)
        if cell is None:
            return 1
        at, lines_before = cell.span[0], 0
        for start, end in cell.strings:
            at = start
            lines_before += json.loads(self.json[start:end]).count("\n")
            if lines_before >= line:
                break
        return self.json.count("\n", 0, at) + 1

    def with_text(self, number: int, text: str) -> Notebook:
        """The notebook with a cell rewritten; every string of it that stays keeps its very letters."""
        cell = self.cell(number)
        if cell is None:
            raise NotANotebook(f"there is no code cell {number}")
        start, end = cell.span
        return parse(self.json[:start] + self._written(cell, text) + self.json[end:])

    def _written(self, cell: Cell, text: str) -> str:
        if not cell.is_list:
            return self._quoted(text)
        kept = {json.loads(self.json[start:end]): self.json[start:end] for start, end in cell.strings}
        strings = [kept.get(line) or self._quoted(line) for line in text.splitlines(keepends=True)]
        return self._opening(cell) + self._between(cell).join(strings) + self._closing(cell) if strings else "[]"

    def _quoted(self, text: str) -> str:
        """As the writer of this file would: some spell every letter beyond ASCII as an escape."""
        return json.dumps(text, ensure_ascii=self.json.isascii() and "\\u" in self.json)

    def _opening(self, cell: Cell) -> str:
        return self.json[cell.span[0] : cell.strings[0][0]] if cell.strings else "["

    def _between(self, cell: Cell) -> str:
        if len(cell.strings) > 1:
            return self.json[cell.strings[0][1] : cell.strings[1][0]]
        return "," + self._opening(cell)[1:]

    def _closing(self, cell: Cell) -> str:
        return self.json[cell.strings[-1][1] : cell.span[1]] if cell.strings else "]"


def parse(text: str) -> Notebook:
    """The notebook with this JSON. Raises NotANotebook."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise NotANotebook(f"it is not valid JSON: {error}") from None
    except RecursionError:
        raise NotANotebook("its JSON is nested too deeply") from None
    if not isinstance(content, dict) or not isinstance(content.get("cells", content.get("worksheets")), list):
        raise NotANotebook("it has no list of cells")
    cells = (_cell(text, span, number) for number, span in enumerate(_cell_spans(text), 1))
    return Notebook(text, tuple(cell for cell in cells if cell is not None), _is_python(content))


def _is_python(content: dict[str, Any]) -> bool:
    """Unless the notebook says otherwise."""
    metadata = content.get("metadata")
    told = metadata if isinstance(metadata, dict) else {}
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        language = told[table].get(key) if isinstance(told.get(table), dict) else None
        if isinstance(language, str):
            return language.lower() in ("python", "ipython", "python3", "sage")
    return True


def _cell_spans(text: str) -> list[Span]:
    top = _members(text, (_after_space(text, 0), len(text)))
    if "cells" in top:
        return _items(text, top["cells"])
    # Before version 4 of the format there were work sheets in between, in practice one.
    sheets = (_members(text, sheet) for sheet in _items(text, top["worksheets"]))
    return [cell for sheet in sheets if "cells" in sheet for cell in _items(text, sheet["cells"])]


def _cell(text: str, span: Span, number: int) -> Cell | None:
    members = _members(text, span)
    kind = members.get("cell_type")
    source = members.get("source", members.get("input"))
    if kind is None or source is None or _DECODER.raw_decode(text, kind[0])[0] != "code":
        return None
    value, _ = _DECODER.raw_decode(text, source[0])
    if isinstance(value, str):
        return Cell(number, value, source, (source,), is_list=False)
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise NotANotebook(f"the source of cell {number} is neither a text nor a list of lines")
    return Cell(number, "".join(value), source, tuple(_items(text, source)), is_list=True)


def _members(text: str, span: Span) -> dict[str, Span]:
    """Where the values of a JSON object stand."""
    found: dict[str, Span] = {}
    at = _inside(text, span, "{")
    while at and text[at] == '"':
        key, at = _DECODER.raw_decode(text, at)
        start = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        found[key] = start, end
        at = _next(text, end)
    return found


def _items(text: str, span: Span) -> list[Span]:
    """Where the items of a JSON list stand."""
    found: list[Span] = []
    at = _inside(text, span, "[")
    while at and text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        found.append((at, end))
        at = _next(text, end)
    return found


def _inside(text: str, span: Span, bracket: str) -> int:
    """The first position behind the bracket that opens the value, 0 where it is another kind of value."""
    return _after_space(text, span[0] + 1) if text.startswith(bracket, span[0]) else 0


def _next(text: str, end: int) -> int:
    at = _after_space(text, end)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
