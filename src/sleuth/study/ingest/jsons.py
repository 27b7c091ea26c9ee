"""Records of JSON: one a line, a list, a page `{"items": [...]}`, or any of these one after the other."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from sleuth.study.ingest.lines import LONGEST, NOT_UTF8, WHY_NOT_UTF8, lines
from sleuth.study.ingest.rows import Item
from sleuth.study.ingest.shapes import records_in
from sleuth.study.ingest.streams import Stream

_PIECE = 1 << 20
_IN_SIGHT = 4096
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,\]}\ufeff]*")
_LIST = re.compile(r"\[|\{\s*\"(?:items|nodes|data)\"\s*:\s*\[")
# Where a value stands alone, this is what a page has behind its list: how many more there are, and the like.
_NAME = re.compile(r"\"(?:[^\"\\]|\\.)*\"\s*:\s*")
# Where a next record may begin after a broken one.
_NEXT = re.compile(r"(?:\n|\},)\s*(?=[{\[])")


def read_lines(stream: Stream, position: int) -> Iterator[Item]:
    for line in lines(stream, position):
        text = line.data.decode("utf-8", "surrogateescape")
        if line.cut:
            yield Item(line.start, line.end, stream.done, why="the line is too long", text=text)
        elif text.strip():
            yield from _records(text, line.start, line.end, stream.done)


def _records(text: str, start: int, end: int, done: int) -> Iterator[Item]:
    """The records of a text that should be one value. Only the last of them is at the end of it."""
    try:
        records = records_in(json.loads(text))
    except (ValueError, RecursionError) as error:
        yield Item(start, end, done, why=f"not JSON: {_said(error)}", text=text)
        return
    yield from _items(records, text, start, end, done)


def _items(records: list[Any], text: str, start: int, end: int, done: int) -> Iterator[Item]:
    """The records that this text holds."""
    is_utf8 = text.isascii() or not NOT_UTF8.search(text)
    for number, record in enumerate(records, 1):
        behind = end if number == len(records) else start
        if is_utf8 or not NOT_UTF8.search(written := json.dumps(record, ensure_ascii=False)):
            yield Item(start, behind, done, record)
        else:
            yield Item(start, behind, done, why=WHY_NOT_UTF8, text=written)


def read_values(stream: Stream, position: int) -> Iterator[Item]:
    """Values that may go over many lines, in lists that may be larger than the memory."""
    window = _Window(stream, position)
    while window.more_than_blanks():
        if frame := _LIST.match(window.text, window.at):
            window.go_to(frame.end())
        elif name := _NAME.match(window.text, window.at):
            window.go_to(name.end())
            yield from (item for item in _value(window) if item.why)
        else:
            yield from _value(window)


def _value(window: _Window) -> Iterator[Item]:
    """The value that the window stands at, or what is put aside of it."""
    start = window.position
    while True:
        try:
            value, end = _DECODER.raw_decode(window.text, window.at)
            break
        except (ValueError, RecursionError) as error:
            if isinstance(error, RecursionError) or not window.grow():
                yield _skipped(window, error)
                return
    text = window.text[window.at : end]
    window.go_to(end)
    yield from _items(records_in(value), text, start, window.position, window.done)


def _skipped(window: _Window, error: Exception) -> Item:
    start, at, text = window.position, window.at, window.text
    broken = error.pos if isinstance(error, json.JSONDecodeError) else at
    following = _NEXT.search(text, max(at, broken - 1))
    end = following.end() if following else len(text)
    window.go_to(max(end, at + 1))
    return Item(start, window.position, window.done, why=f"not JSON: {_said(error)}", text=text[at:end])


def _said(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else "too deeply nested"


class _Window:
    """The text around the current position, as far as it has been read."""

    def __init__(self, stream: Stream, position: int) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._ended = False
        self.text = ""
        self.at = 0
        self.position = position

    @property
    def done(self) -> int:
        return self._stream.done

    def grow(self) -> bool:
        """Read on; False at the end, or where a single value has become too large."""
        if self._ended or len(self.text) - self.at > LONGEST:
            return False
        self.text = self.text[self.at :]
        self.at = 0
        # Twice as much each time: a value of many pieces is then tried a few times, not once a piece.
        piece = self._stream.read(max(_PIECE, len(self.text)))
        self._ended = not piece
        self.text += self._decoder.decode(piece, final=self._ended)
        return True

    def go_to(self, end: int) -> None:
        passed = self.text[self.at : end]
        self.position += len(passed) if passed.isascii() else len(passed.encode("utf-8", "surrogateescape"))
        self.at = end

    def more_than_blanks(self) -> bool:
        """Go to the next thing that is not between values. The start of a list must be in sight as a whole."""
        while True:
            self.go_to(_BETWEEN.match(self.text, self.at).end())  # type: ignore[union-attr]
            if len(self.text) - self.at >= _IN_SIGHT or not self.grow():
                return self.at < len(self.text)
