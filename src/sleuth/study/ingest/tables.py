"""Rows of CSV and Parquet files, one by one."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from sleuth.study.ingest import columns
from sleuth.study.ingest.lines import lines
from sleuth.study.ingest.rows import Item
from sleuth.study.ingest.sources import Source
from sleuth.study.ingest.streams import Stream, open_at

_MARKS = ",\t;|"
_BATCH = 2_000


def header(lines: list[str]) -> list[str]:
    """The names in the first line, whichever mark parts them."""
    return [name.strip() for name in next(csv.reader(lines, delimiter=_mark(lines[0])), [])] if lines else []


def read_csv(source: Source, stream: Stream, position: int) -> Iterator[Item]:
    """Every run reads the header again, then the rows from the position on."""
    csv.field_size_limit(1 << 30)
    start = open_at(source.path, source.packing, source.member, 0)
    first = _Text(start, 0)
    mark = _mark(first.peek())
    names = [name.strip() for name in next(csv.reader(first, delimiter=mark), [])]
    start.close()
    text = _Text(stream, position)
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
        if len(row) == len(names):
            values = {meaning: row[place] or None for meaning, place in places.items()}
            yield Item(begin, text.position, stream.done, values, text=text.told)
        elif row:
            why = f"it has {len(row)} fields, the header has {len(names)}"
            yield Item(begin, text.position, stream.done, why=why, text=text.told)


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

    def __init__(self, stream: Stream, position: int) -> None:
        self._lines = lines(stream, position)
        self._waiting: list[str] = []
        self._ahead = 0
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
        line = next(self._lines)
        self.position = line.end
        text = line.data.decode("utf-8", "replace") + "\n"
        self.taken.append(text)
        return text
