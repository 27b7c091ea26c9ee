"""Where in a chunk of a dump the values of its rows are: all quotes found at once, names told apart by their letters.

A value of an attribute never holds a raw quote or `<`, so splitting there is exact. Rows that are written in any way
but the usual one (other quotes, unknown attributes, line ends or control characters inside) are for an XML parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sleuth.study.ingest.words64 import U64, Array, view, word

# Zero bytes that a chunk must end with, so that eight bytes can be read anywhere in it.
PAD = 16
NAMES = (
    "Id PostTypeId AcceptedAnswerId ParentId CreationDate DeletionDate Score ViewCount Body OwnerUserId "
    "OwnerDisplayName LastEditorUserId LastEditorDisplayName LastEditDate LastActivityDate Title Tags AnswerCount "
    "CommentCount FavoriteCount ClosedDate CommunityOwnedDate ContentLicense"
).split()
_UNKNOWN = len(NAMES)
_FACTORS = (U64(0x9E3779B97F4A7C15), U64(0xC2B2AE3D27D4EB4F), U64(0x165667B19E3779F9))


@dataclass(frozen=True)
class Spans:
    """The values of one attribute: of which rows, and from where to where."""

    rows: Array
    starts: Array
    ends: Array


class Cells:
    """The usual rows of a chunk and their values; `unusual` says which of its rows are not among them."""

    def __init__(self, chunk: bytearray, angles: Array | None = None) -> None:
        """`angles` says where every `<` is, where that is known already."""
        self.chunk = chunk
        self.buffer = np.frombuffer(chunk, np.uint8)
        self.words = view(chunk)
        if angles is None:
            angles = np.flatnonzero(self.buffer == 60)
        is_row = (self.words[angles] & U64(0xFFFFFFFF)) == word(b"<row")
        is_row &= (self.buffer[angles + 4] <= 32) | (self.buffer[angles + 4] == 47)
        self.starts = angles[is_row]
        self.ends = np.append(self.starts[1:], len(chunk) - PAD)
        self.unusual = np.zeros(len(self.starts), bool)
        self.ampersands = np.flatnonzero(self.buffer == 38)
        self._flag(angles[~is_row])
        self._flag_raw_ends(np.flatnonzero(self.buffer == 62))
        self._find_values(np.flatnonzero(self.buffer == 34))

    def _flag(self, places: Array) -> None:
        """The rows in which these places are, are unusual."""
        if len(places) and len(self.starts):
            rows = np.searchsorted(self.starts, places, "right") - 1
            self.unusual[rows[rows >= 0]] = True

    def _flag_raw_ends(self, places: Array) -> None:
        """`>` may stand raw in a value, but dumps escape it: one a row, at its end."""
        count = np.diff(np.searchsorted(places, np.append(self.starts, len(self.chunk))))
        self.unusual |= count != 1

    def _find_values(self, quotes: Array) -> None:
        first = np.searchsorted(quotes, self.starts)
        counts = np.append(first[1:], len(quotes)) - first
        self.unusual |= (counts == 0) | (counts % 2 == 1) | (self.buffer[self.starts + 4] != 32)
        self._check_tails(quotes, first, counts)
        self._check_letters()
        usual = ~self.unusual
        inside = quotes[first[0] :][np.repeat(usual, counts)] if len(first) else quotes[:0]
        self.opens, self.closes = inside[0::2], inside[1::2]
        pairs = counts[usual] // 2
        self.row_starts, self.row_ends = self.starts[usual], self.ends[usual]
        self.of_row = np.repeat(np.arange(len(pairs)), pairs)
        self.firsts = np.cumsum(pairs) - pairs
        self.bad = np.zeros(len(pairs), bool)
        self._name_values()

    def _check_tails(self, quotes: Array, first: Array, counts: Array) -> None:
        """After its last value a row ends with ` />`, a line end and an indent."""
        last = quotes[np.maximum(first + counts - 1, 0)] if len(quotes) else self.starts
        self.unusual |= (self.words[last] & U64(0xFFFFFFFF)) != word(b'" />')
        rest = self.ends - last - 4
        self.unusual |= (rest < 0) | (rest > 4)
        tail = self.words[np.minimum(last + 4, len(self.words) - 1)]
        self._controls = 0
        for place in range(4):
            letter = ((tail >> U64(8 * place)) & U64(0xFF)).astype(np.uint8)
            counted = rest > place
            self.unusual |= counted & (letter != 32) & (letter != 10) & (letter != 13)
            self._controls += int(np.count_nonzero(counted & (letter < 32)))
        self._tails = last + 4

    def _check_letters(self) -> None:
        """Control characters, raw line ends among them, and bytes that are not UTF-8 are for the parser to judge."""
        size = len(self.chunk) - PAD
        if np.count_nonzero(self.buffer[:size] < 32) != self._controls:
            places = np.flatnonzero(self.buffer[:size] < 32)
            rows = np.searchsorted(self.starts, places, "right") - 1
            known = rows >= 0
            places, rows = places[known], rows[known]
            self.unusual[rows[places < self._tails[rows]]] = True
        if not _is_utf8(self.chunk, 0, size):
            for row in np.flatnonzero(~self.unusual):
                self.unusual[row] = not _is_utf8(self.chunk, self.starts[row], self.ends[row])
        # U+FFFE and U+FFFF are UTF-8 but not XML.
        if b"\xef" in self.chunk:
            found = np.flatnonzero(self.buffer == 0xEF)
            self._flag(found[(self.buffer[found + 1] == 0xBF) & (self.buffer[found + 2] >= 0xBE)])

    def _name_values(self) -> None:
        starts = np.empty_like(self.opens)
        starts[1:] = self.closes[:-1] + 1
        starts[self.firsts] = self.row_starts + 4
        names = _known(_fingerprints(self.words, starts, self.opens))
        self.bad[self.of_row[names == _UNKNOWN]] = True
        if len(self.firsts):
            bits = np.left_shift(np.int64(1), names.astype(np.int64))
            self.bad |= np.bitwise_or.reduceat(bits, self.firsts) != np.add.reduceat(bits, self.firsts)
        if self.bad.any():
            # Two values of one name would put all later ones in the wrong rows.
            names[self.bad[self.of_row]] = _UNKNOWN
        self._by_name = np.argsort(names, kind="stable")
        self._first_of_name = np.append(0, np.cumsum(np.bincount(names, minlength=_UNKNOWN + 1)))

    def spans(self, name: str) -> Spans:
        number = NAMES.index(name)
        which = self._by_name[self._first_of_name[number] : self._first_of_name[number + 1]]
        return Spans(self.of_row[which], self.opens[which] + 1, self.closes[which])


def _fingerprints(words: Array, starts: Array, ends: Array) -> Array:
    """A number for each ` Name=`, made of all its letters (up to 24), so that equal numbers mean equal names."""
    lengths = ends - starts
    unused = (8 * np.clip(8 - lengths, 0, 7)).astype(U64)
    numbers = (words[ends - 8] >> unused) * _FACTORS[0] + lengths.astype(U64)
    numbers += np.where(lengths > 8, words[starts], U64(0)) * _FACTORS[1]
    long = np.flatnonzero(lengths > 16)
    numbers[long] += words[starts[long] + 8] * _FACTORS[2]
    return np.where((lengths >= 4) & (lengths <= 24), numbers, U64(0))


def _own_fingerprints() -> Array:
    letters = [f" {name}=".encode() for name in NAMES]
    chunk = bytearray(b"\0" * 8 + b"".join(name + b"\0" * 24 for name in letters))
    starts = np.array([chunk.index(name) for name in letters])
    return _fingerprints(view(chunk), starts, starts + np.array([len(name) for name in letters]))


def _known(numbers: Array) -> Array:
    """For each fingerprint the number of its name."""
    places = _TABLE[numbers >> U64(64 - _BITS)]
    return np.where(_OWN[places] == numbers, places, np.uint8(_UNKNOWN))


_OWN = np.append(_own_fingerprints(), U64(1))
# Enough bits that no two of the names share a place.
_BITS = next(bits for bits in range(5, 24) if len(set((_OWN[:-1] >> U64(64 - bits)).tolist())) == len(NAMES))
_TABLE = np.full(1 << _BITS, _UNKNOWN, np.uint8)
_TABLE[_OWN[:-1] >> U64(64 - _BITS)] = np.arange(len(NAMES))


def _is_utf8(chunk: bytearray, start: Any, end: Any) -> bool:
    offsets = np.array([start, end], np.int32)
    text = pa.StringArray.from_buffers(1, pa.py_buffer(offsets), pa.py_buffer(chunk))
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
