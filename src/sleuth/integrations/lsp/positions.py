"""Between our places (from 1, in characters) and a client's (from 0, in the code units it asked for)."""

from __future__ import annotations

import io

from lsprotocol import types
from pygls.workspace import PositionCodec

from sleuth.editing import line_end_of, with_plain_ends
from sleuth.findings import Edit, Place
from sleuth.report.excerpt import Span, locate


def lines_of(text: str) -> tuple[str, ...]:
    """The lines with their ends, as the protocol and Python count them: a form feed, say, ends none."""
    return tuple(io.StringIO(text, newline=""))


class Ruler:
    """Measures one text in a client's units."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.text = with_plain_ends(text)
        self._written = text
        self.lines = self.text.split("\n")
        self._units = codec.client_num_units

    def position(self, line: int, column: int) -> types.Position:
        """Where the client counts this character; beyond a line's end is at its end."""
        if line > len(self.lines):
            line, column = len(self.lines), len(self.lines[-1]) + 1
        before = self.lines[max(line, 1) - 1][: max(column, 1) - 1]
        return types.Position(max(line, 1) - 1, self._units(before))

    def character(self, position: types.Position) -> tuple[int, int]:
        """The line and column of a client's position."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        units = 0
        line = self.lines[position.line]
        for column, letter in enumerate(line, start=1):
            if units >= position.character:
                return position.line + 1, column
            units += self._units(letter)
        return position.line + 1, len(line) + 1

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def span(self, place: Place) -> Span:
        """The stretch to underline: the place's code where it stands, else the rest of its line."""
        found = locate(place, self.text) if place.code else None
        if found is not None:
            return found
        line = min(max(place.line, 1), len(self.lines))
        text = self.lines[line - 1]
        start = place.column or len(text) - len(text.lstrip()) + 1
        return Span(line, start, line, max(start, len(text.rstrip()) + 1))

    def text_edit(self, edit: Edit) -> types.TextEdit:
        span = Span(edit.line, edit.column, edit.end_line, edit.end_column)
        replacement = with_plain_ends(edit.replacement).replace("\n", line_end_of(self._written))
        return types.TextEdit(self.range(span), replacement)
