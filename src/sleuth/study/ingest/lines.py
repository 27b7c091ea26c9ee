"""The lines of a stream, each with where it begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sleuth.study.ingest.streams import Stream

_PIECE = 1 << 20
# A line that goes on for longer is no row of anything; it must not fill the memory.
LONGEST = 64 << 20
BOM = b"\xef\xbb\xbf"
# What bytes become, decoded with "surrogateescape", that are not UTF-8.
NOT_UTF8 = re.compile("[\udc80-\udcff]")
WHY_NOT_UTF8 = "it is not UTF-8 (--encoding says what it is)"


@dataclass(frozen=True)
class Line:
    """`data` without its end; `cut` if it was too long to be kept whole."""

    start: int
    end: int
    data: bytes
    cut: bool = False


def lines(stream: Stream, position: int, mark: bytes = b"\n") -> Iterator[Line]:
    """Every line from the position on, where the stream stands; the mark is what ends a line."""
    rest = b""
    while piece := stream.read(_PIECE):
        *whole, last = piece.split(mark)
        if not whole:
            rest += piece
            if len(rest) > LONGEST:
                line = _beyond(stream, position, rest)
                yield line
                position, rest = line.end, b""
            continue
        whole[0] = rest + whole[0]
        for data in whole:
            yield _line(position, data, 1)
            position += len(data) + 1
        rest = last
    if rest:
        yield _line(position, rest, 0)


def _line(position: int, data: bytes, newline: int) -> Line:
    end = position + len(data) + newline
    if position == 0:
        data = data.removeprefix(BOM)
    return Line(position, end, data.removesuffix(b"\r"))


def _beyond(stream: Stream, position: int, start: bytes) -> Line:
    """The rest of the source, read and dropped: its one line has no end in sight."""
    end = position + len(start)
    while piece := stream.read(_PIECE):
        end += len(piece)
    return Line(position, end, start[:_PIECE], cut=True)
