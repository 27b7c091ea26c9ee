"""Rows of CSV and Parquet files, one by one."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from sleuth.study.ingest import columns
from sleuth.study.ingest.lines import NOT_UTF8, WHY_NOT_UTF8, lines
from sleuth.study.ingest.rows import Item
from sleuth.study.ingest.sources import Source
from sleuth.study.ingest.streams import Stream, head, open_at

_MARKS = ",\t;|"
_BATCH = 2_000
_HEAD = 1 << 16


def header(lines: list[str]) -> list[str]:
    """The names in the first line, whichever mark parts them."""
    return [name.strip() for name in next(csv.reader(lines, delimiter=_mark(lines[0])), [])] if lines else []


def read_csv(source: Source, stream: Stream, position: int) -> Iterator[Item]:
    """Every run reads the header again, then the rows from the position on."""
    csv.field_size_limit(1 << 30)
    line_end = _line_end(source)
    start = open_at(source.path, source.packing, source.member, 0, source.encoding)
    first = _Text(start, 0, line_end)
    mark = _mark(first.peek())
    names = [name.strip() for name in next(csv.reader(first, delimiter=mark), [])]
    start.close()
    text = _Text(stream, position, line_end)
    rows = csv.reader(text, delimiter=mark)
    if position == 0:
        next(rows, None)
    found = columns.meanings(names, source.columns)
    places = {meaning: names.index(name) for meaning, name in found.items()}
    while True:
        begin = text.position
        text.taken.clear()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Item(begin, text.position, stream.done, why=f"not a row of CSV: {error}", text=text.told)
            continue
        if why := _unfit(row, names, text):
            yield Item(begin, text.position, stream.done, why=why, text=text.told)
        elif row:
            values = {meaning: row[place] or None for meaning, place in places.items()}
            yield Item(begin, text.position, stream.done, values, text=text.told)


def _unfit(row: list[str], names: list[str], text: _Text) -> str:
    """Why a row cannot be taken in, if it cannot. An empty line is no row."""
    # Outside quotes a row ends with its line, and nobody asks for another one.
    if text.ended:
        return "a quote that begins in it does not end"
    if row and len(row) != len(names):
        return f"it has {len(row)} fields, the header has {len(names)}"
    return WHY_NOT_UTF8 if NOT_UTF8.search(text.told) else ""


def _line_end(source: Source) -> bytes:
    """Some programs still end lines with a carriage return alone."""
    stream = open_at(source.path, source.packing, source.member, 0, source.encoding)
    try:
        start = head(stream, _HEAD)
    finally:
        stream.close()
    return b"\r" if b"\r" in start and b"\n" not in start else b"\n"


def read_parquet(source: Source, position: int) -> Iterator[Item]:
    """A position is a number of rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        found = columns.meanings(file.schema_arrow.names, source.columns)
        total, at = max(1, file.metadata.num_rows), 0
        for batch in file.iter_batches(_BATCH, columns=list(found.values())):
            known = max(0, position - at)
            for number, row in enumerate(batch.slice(known).to_pylist(), at + known):
                values = {meaning: row[name] for meaning, name in found.items()}
                yield Item(number, number + 1, source.size * (number + 1) // total, values)
            at += len(batch)


def _mark(line: str) -> str:
    return max(_MARKS, key=line.count)


class _Text:
    """Lines as the csv module wants them, and where the last one it took ended."""

    def __init__(self, stream: Stream, position: int, line_end: bytes) -> None:
        self._lines = lines(stream, position, line_end)
        self._waiting: list[str] = []
        # Whether there was no line where one was asked for.
        self.ended = False
        self.position = position
        self.taken: list[str] = []

    @property
    def told(self) -> str:
        return "".join(self.taken)

    def peek(self) -> str:
        line = next(self, "")
        self._waiting.append(line)
        return line

    def __iter__(self) -> _Text:
        return self

    def __next__(self) -> str:
        if self._waiting:
            return self._waiting.pop()
        line = next(self._lines, None)
        if line is None:
            self.ended = True
            raise StopIteration
        self.position = line.end
        text = line.data.decode("utf-8", "surrogateescape") + "\n"
        self.taken.append(text)
        return text
