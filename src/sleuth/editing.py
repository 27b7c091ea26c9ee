"""Edits made to a text, whatever its line ends are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from sleuth.findings import Edit

# What Python takes for the end of a line; str.splitlines knows many more.
_LINE_END = re.compile(r"\r\n|\r|\n")


def line_end_of(text: str) -> str:
    """The line end that the text uses most."""
    used = Counter(_LINE_END.findall(text))
    return max(("\n", "\r\n", "\r"), key=lambda end: used[end])


def with_plain_ends(text: str) -> str:
    """The text with every line end a newline, as Python reads it."""
    return text if "\r" not in text else _LINE_END.sub("\n", text)


def apply(text: str, edits: Iterable[Edit]) -> str | None:
    """The text with the edits made, or None where one lies outside it or two overlap.

    What they put in gets the line ends of the text; all the rest stays as it is."""
    ordered = sorted(edits, key=lambda edit: (edit.line, edit.column))
    lines = _spans_of_lines(text)
    end_of_line = line_end_of(text)
    pieces: list[str] = []
    done = 0
    for edit in ordered:
        start, end = _offset(lines, edit.line, edit.column), _offset(lines, edit.end_line, edit.end_column)
        if start is None or end is None or start < done or end < start:
            return None
        pieces += (text[done:start], with_plain_ends(edit.replacement).replace("\n", end_of_line))
        done = end
    return "".join((*pieces, text[done:]))


def _spans_of_lines(text: str) -> list[tuple[int, int]]:
    """Where each line starts and ends, its line end left out."""
    ends = [(end.start(), end.end()) for end in _LINE_END.finditer(text)]
    starts = [0, *(after for _, after in ends)]
    return list(zip(starts, [*(before for before, _ in ends), len(text)], strict=True))


def _offset(lines: list[tuple[int, int]], line: int, column: int) -> int | None:
    if not 1 <= line <= len(lines):
        return None
    start, end = lines[line - 1]
    return start + column - 1 if 1 <= column <= end - start + 1 else None
