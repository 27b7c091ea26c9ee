"""Reads a Stack Exchange dump of posts, chunk by chunk: the usual rows all at once, any others one by one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sleuth.study.corpus import COLUMNS
from sleuth.study.ingest import dump_row
from sleuth.study.ingest.choice import Chooser
from sleuth.study.ingest.dump_cells import PAD, Cells
from sleuth.study.ingest.dump_hidden import blanked
from sleuth.study.ingest.dump_prose import prose
from sleuth.study.ingest.dump_sieve import Sieve, Sieved
from sleuth.study.ingest.lines import LONGEST
from sleuth.study.ingest.post import Post
from sleuth.study.ingest.rows import Aside, Batch, shortened
from sleuth.study.ingest.streams import Stream, filled
from sleuth.study.ingest.values import SHORT, Unfit
from sleuth.study.ingest.words64 import Array, integers, times

# Large enough that the cost of a call is small beside its work, small enough to stay near the processor.
_CHUNK = 4 << 20
_SIFTED_CHUNK = 4 << 20
# A batch is due now and then, even when nothing passes the sieve.
_CHUNKS_A_BATCH = 32
_ROW = b"<row"
_ANGLE = 60
_FRAME = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<posts[^>]*>\s*)?(?:</posts>\s*)?", re.DOTALL
)


def read(stream: Stream, position: int, site: str, chooser: Chooser) -> Iterator[Batch]:
    _keep_freed_memory()
    chunks = _chunks(stream, position, _SIFTED_CHUNK if chooser.choice.tags else _CHUNK)
    if chooser.choice.tags:
        yield from _sifted(chunks, stream, site, chooser)
        return
    for chunk in chunks:
        yield _batch(chunk.data, site, _Offsets([chunk.start], [0]), chunk.end, stream.done, chunk.angles)


def _keep_freed_memory() -> None:
    """Have the memory of large arrays used again, not given back: asking anew for every page is a sixth of the time.

    When glibc frees a block that it had mapped, it keeps all smaller ones from then on. Elsewhere this does nothing."""
    np.empty(24 << 20, np.uint8)


@dataclass(frozen=True)
class _Chunk:
    """Whole rows, where in the source they begin, and where in them every `<` is."""

    start: int
    data: bytes
    angles: Array

    @property
    def end(self) -> int:
        return self.start + len(self.data)


def _chunks(stream: Stream, position: int, size: int) -> Iterator[_Chunk]:
    """Chunks end where a row begins: a raw `<` stands nowhere else, but for what is hidden between rows."""
    rest = b""
    while True:
        piece, damage = filled(stream, size)
        if damage:
            yield _chunk(position, rest + piece)[0]
            raise damage
        if not piece:
            break
        # The piece is large: it is copied once, together with the rest before it.
        end = piece.rfind(_ROW, 1)
        too_long = len(rest) + len(piece) > LONGEST
        if end <= 0 and not too_long:
            rest += piece
            continue
        end = end if end > 0 else len(piece)
        chunk, sure = _chunk(position, b"".join((rest, memoryview(piece)[:end])))
        rest = piece[end:]
        if sure < len(chunk.data) and not too_long:
            rest = chunk.data[sure:] + rest
            chunk = _Chunk(position, chunk.data[:sure], chunk.angles[chunk.angles < sure])
        if chunk.data:
            yield chunk
        position = chunk.end
    if rest:
        yield _chunk(position, rest)[0]


def _chunk(position: int, data: bytes) -> tuple[_Chunk, int]:
    """And up to where it is known what is hidden in it."""
    angles = np.flatnonzero(np.frombuffer(data, np.uint8) == _ANGLE)
    shown, sure = blanked(data, angles)
    if shown is not data:
        angles = np.flatnonzero(np.frombuffer(shown, np.uint8) == _ANGLE)
    return _Chunk(position, shown, angles), sure


def _sifted(chunks: Iterator[_Chunk], stream: Stream, site: str, chooser: Chooser) -> Iterator[Batch]:
    """Rows that pass are gathered until there are enough of them to be worth a call."""
    sieve, passed, end = Sieve(chooser), Sieved(), 0
    for chunk in chunks:
        sieve.sift(chunk.data, chunk.start, chunk.angles, passed)
        end = chunk.end
        if passed.size >= _CHUNK // 2 or passed.chunks >= _CHUNKS_A_BATCH:
            yield _of_sieved(passed, site, end, stream.done)
            passed = Sieved()
    if passed.chunks:
        yield _of_sieved(passed, site, end, stream.done)


def _of_sieved(passed: Sieved, site: str, end: int, done: int) -> Batch:
    lengths = [len(row) for row in passed.rows]
    starts = [0, *accumulate(lengths)][:-1]
    batch = _batch(b"".join(passed.rows), site, _Offsets(passed.offsets, starts), end, done)
    batch.left_out = passed.dropped
    return batch


@dataclass(frozen=True)
class _Offsets:
    """Where in the source the parts of a text were that begin at these places of it."""

    offsets: list[int]
    starts: list[int]

    def of(self, place: int) -> int:
        part = bisect_right(self.starts, place) - 1
        return self.offsets[part] + place - self.starts[part] if self.starts else 0


def _batch(data: bytes, site: str, offsets: _Offsets, position: int, done: int, angles: Array | None = None) -> Batch:
    cells = Cells(bytearray().join((data, bytes(PAD))), angles)
    aside = []
    before = data[: cells.starts[0]] if len(cells.starts) else data
    if before and not _FRAME.fullmatch(before):
        aside.append(_aside(offsets.of(0), before, "it is not a row"))
    table = _usual(cells, site)
    others: dict[int, Post] = {}
    usual = np.flatnonzero(~cells.unusual)
    for number in np.sort(np.concatenate([np.flatnonzero(cells.unusual), usual[cells.bad]])).tolist():
        start = int(cells.starts[number])
        row = data[start : cells.ends[number]]
        try:
            others[number], junk = _slowly(row, site)
        except Unfit as error:
            aside.append(_aside(offsets.of(start), row, str(error)))
        else:
            if junk:
                aside.append(_aside(offsets.of(start) + len(row) - len(junk), junk, "it is not a row"))
    return Batch(position, done, _merged(table, cells, usual, others), aside)


def _slowly(data: bytes, site: str) -> tuple[Post, bytes]:
    """A row read by the parser, and what is behind it that belongs to no row."""
    try:
        return dump_row.row(data, site), b""
    except Unfit:
        end = dump_row.end_of_row(data)
        if end is None:
            raise
        return dump_row.row(data[:end], site), data[end:]


def _merged(table: pa.Table, cells: Cells, usual: Array, others: dict[int, Post]) -> pa.Table:
    """The usual rows that turned out well and the others, in the order of the dump."""
    if not others and not cells.bad.any():
        return table
    fine = ~cells.bad
    slow = pa.Table.from_pylist(list(others.values()), COLUMNS)
    if len(others) + int(cells.bad.sum()) > len(table) // 10:
        both = pa.concat_tables([table.filter(pa.array(fine)), slow])
        return both.take(pa.array(np.argsort(np.concatenate([usual[fine], np.array(list(others), np.int64)]))))
    # Few: cutting the table around them copies nothing.
    pieces, at = [], 0
    for place, number in enumerate(others):
        before = int(np.searchsorted(usual, number))
        pieces += _stretches(table, cells.bad, at, before)
        pieces.append(slow.slice(place, 1))
        at = before
    return pa.concat_tables(pieces + _stretches(table, cells.bad, at, len(table)))


def _stretches(table: pa.Table, bad: Array, start: int, end: int) -> list[pa.Table]:
    """The rows from start to end without the bad ones among them."""
    pieces = []
    for place in (start + np.flatnonzero(bad[start:end])).tolist():
        pieces.append(table.slice(start, place - start))
        start = place + 1
    return [piece for piece in [*pieces, table.slice(start, end - start)] if len(piece)]


def _aside(offset: int, data: bytes, why: str) -> Aside:
    return Aside(offset, why, shortened(data[:10_000].decode("utf-8", "replace").strip()))


def _usual(cells: Cells, site: str) -> pa.Table:
    count = len(cells.bad)
    if not count:
        return COLUMNS.empty_table()
    columns: dict[str, Any] = {}
    for column, name in dump_row.NUMBERS.items():
        columns[column] = _column(cells, name, count, integers)
    for column, name in dump_row.TIMES.items():
        columns[column] = _column(cells, name, count, times)
    kind = _column(cells, "PostTypeId", count, integers)
    cells.bad |= np.asarray(pc.is_null(columns["id"]))
    words = prose(cells)
    columns |= {"title": words.title, "text": words.text, "code": words.code, "tags": words.tags}
    columns["kind_of_post"] = _kinds(kind)
    columns["site"] = pa.repeat(site, count)
    columns["accepted_ms"] = pa.nulls(count, pa.int64())
    prefix = f"{SHORT.get(site, site)}:"
    columns["key"] = pc.binary_join_element_wise(prefix, pc.fill_null(columns["id"], 0).cast(pa.string()), "")
    return pa.Table.from_arrays([columns[name] for name in COLUMNS.names], schema=COLUMNS)


def _column(cells: Cells, name: str, count: int, read: Any) -> Any:
    """Numbers or times of an attribute, one a row; null where it is missing."""
    spans = cells.spans(name)
    if read is integers:
        found, wrong = integers(cells.words, spans.starts, spans.ends, cells.buffer)
    else:
        found, wrong = times(cells.words, spans.starts, spans.ends)
    cells.bad[spans.rows[wrong]] = True
    values, missing = np.zeros(count, np.int64), np.ones(count, bool)
    values[spans.rows], missing[spans.rows] = found, False
    return pa.array(values, mask=missing)


def _kinds(numbers: Any) -> Any:
    known = np.asarray(pc.fill_null(numbers, 0))
    places = np.where(known == 1, 0, np.where(known == 2, 1, 2)).astype(np.int8)
    return pa.DictionaryArray.from_arrays(places, ["question", "answer", "other"]).cast(pa.string())
