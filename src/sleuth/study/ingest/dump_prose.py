"""Titles, texts, blocks of code and tags of all usual rows of a chunk, as Arrow arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sleuth.study.ingest.dump_cells import Cells
from sleuth.study.ingest.dump_markup import BODY, TAGS, TITLE, Markup
from sleuth.study.ingest.words64 import Array


@dataclass(frozen=True)
class Prose:
    """One value a row each."""

    title: Any
    text: Any
    code: Any
    tags: Any


def prose(cells: Cells) -> Prose:
    """Marks rows as bad that must be read in the slow way. Changes the chunk."""
    named = {TITLE: cells.spans("Title"), BODY: cells.spans("Body"), TAGS: cells.spans("Tags")}
    starts = np.concatenate([spans.starts for spans in named.values()])
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    ends = np.concatenate([spans.ends for spans in named.values()])[order]
    rows = np.concatenate([spans.rows for spans in named.values()])[order]
    kinds = np.repeat(np.array(list(named), np.uint8), [len(spans.rows) for spans in named.values()])[order]
    markup = Markup(cells, starts, ends, rows, kinds)
    pieces = _Pieces(cells, markup, starts, ends)
    rows_of = {kind: rows[kinds == kind] for kind in named}
    spans_of = {kind: np.flatnonzero(kinds == kind) for kind in named}
    count = len(cells.bad)
    return Prose(
        title=_spread(pieces.only(spans_of[TITLE]), rows_of[TITLE], count),
        text=_spread(pc.ascii_trim_whitespace(pieces.text(spans_of[BODY])), rows_of[BODY], count),
        code=_lists(*pieces.code(spans_of[BODY]), rows_of[BODY], count),
        tags=_tags(cells, pieces.only(spans_of[TAGS]), markup.named_tags, rows_of[TAGS], count),
    )


class _Pieces:
    """The spans without their markup, cut where blocks of code begin and end.

    Every other piece of a span is text, and those between are code."""

    def __init__(self, cells: Cells, markup: Markup, starts: Array, ends: Array) -> None:
        goes, comes = markup.removed()
        blocks = np.bincount(markup.block_span, minlength=len(starts)).astype(np.int64)
        points = 2 + 2 * blocks
        self._blocks, self._first = blocks, np.cumsum(points) - points
        places = np.empty(points.sum(), np.int64)
        places[self._first] = starts
        places[self._first + points - 1] = ends
        rank = np.arange(len(markup.block_span)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
        block_place = self._first[markup.block_span] + 1 + 2 * rank
        places[block_place] = markup.block_start
        places[block_place + 1] = markup.block_end
        lost = np.append(0, np.cumsum(comes - goes))
        offsets = places - lost[np.searchsorted(comes, places, "right")]
        markup.write_letters()
        whole = _without(cells.chunk, goes, comes)
        self._pieces = _strings(offsets if len(offsets) else np.zeros(1), whole)

    def only(self, spans: Array) -> Any:
        """Of spans that hold no code: titles and tags."""
        return self._pieces.take(pa.array(self._first[spans]))

    def text(self, spans: Array) -> Any:
        """Taken one after the other, the pieces of one text are next to each other: joining them is free."""
        count = self._blocks[spans] + 1
        before = np.cumsum(count) - count
        rank = np.arange(count.sum()) - np.repeat(before, count)
        taken = self._pieces.take(pa.array(np.repeat(self._first[spans], count) + 2 * rank))
        offsets = np.frombuffer(taken.buffers()[1], np.int32)[np.append(before, count.sum())]
        return _strings(offsets, taken.buffers()[2])

    def code(self, spans: Array) -> tuple[Any, Array]:
        """All blocks, and how many each span has."""
        count = self._blocks[spans]
        rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        taken = self._pieces.take(pa.array(np.repeat(self._first[spans], count) + 1 + 2 * rank))
        return pc.utf8_rtrim(taken, characters="\n"), count


def _without(chunk: bytearray, goes: Array, comes: Array) -> Any:
    """The bytes of a chunk that are not in these intervals. Arrow's filter copies what stays, piece by piece."""
    offsets = np.empty(2 * len(goes) + 2, np.int32)
    offsets[0], offsets[-1] = 0, len(chunk)
    offsets[1:-1:2], offsets[2:-1:2] = goes, comes
    pieces = pa.BinaryArray.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(chunk)]
    )
    every_other = pa.py_buffer(b"\x55" * (len(offsets) // 8 + 1))
    stays = pa.Array.from_buffers(pa.bool_(), len(offsets) - 1, [None, every_other])
    return pieces.filter(stays).buffers()[2]


def _strings(offsets: Array, data: Any, valid: Any = None) -> Any:
    data = data if data is not None else pa.py_buffer(b"")
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), data, valid)


def _spread(values: Any, rows: Array, count: int) -> Any:
    """One value a row, null for rows that have none; `rows` are in order, so that offsets are all that changes."""
    if len(rows) == count:
        return values
    here = np.zeros(count, bool)
    here[rows] = True
    # As many values as there are rows up to each one.
    offsets = np.frombuffer(values.buffers()[1], np.int32)[values.offset :][np.append(0, np.cumsum(here))]
    return _strings(offsets, values.buffers()[2], pa.py_buffer(np.packbits(here, bitorder="little")))


def _lists(values: Any, lengths: Array, rows: Array, count: int) -> Any:
    """A list a row, empty for rows that have none."""
    in_row = np.zeros(count, np.int32)
    in_row[rows] = lengths
    return pa.ListArray.from_arrays(pa.array(np.append(0, np.cumsum(in_row)).astype(np.int32)), values)


def _tags(cells: Cells, joined: Any, expected: Array, rows: Array, count: int) -> Any:
    """Of `a|b|` and `|a|b|`."""
    lists = pc.split_pattern(pc.utf8_trim(joined, characters="|"), "|")
    names = lists.flatten()
    lengths = np.asarray(pc.list_value_length(lists)).astype(np.int32)
    # A bar inside of a tag.
    cells.bad[rows[(expected > 0) & (lengths != expected)]] = True
    empty = np.asarray(pc.equal(pc.binary_length(names), 0))
    # One empty name is what splitting nothing gives; any other is for the slow way to judge.
    of_list = np.asarray(pc.list_parent_indices(lists))[empty]
    nothing = of_list[lengths[of_list] == 1]
    cells.bad[rows[of_list[lengths[of_list] > 1]]] = True
    lengths[nothing] = 0
    kept = (
        names.filter(pa.array(~np.isin(np.asarray(pc.list_parent_indices(lists)), nothing))) if len(nothing) else names
    )
    return _lists(kept, lengths, rows, count)
