"""Drops rows by their tags before they are parsed: only the head of a row and its Tags are looked at.

What is written in an unusual way passes: the sieve may let too much through, never too little."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sleuth.study.ingest.choice import Chooser
from sleuth.study.ingest.values import tags_of
from sleuth.study.ingest.words64 import U64, Array, integers, mask, word

_QUESTION, _ANSWER = word(b'peId="1"'), word(b'peId="2"')
_LONGEST_NUMBER = 12
_MOST_KNOWN = 100_000
_PAD = bytes(64)


@dataclass
class Sieved:
    """Rows that passed, each with where it was in the source."""

    rows: list[bytes] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    size: int = 0
    dropped: int = 0
    chunks: int = 0


class Sieve:
    """Of one source, chunk by chunk."""

    def __init__(self, chooser: Chooser) -> None:
        self._chooser = chooser
        self._known: dict[bytes, bool] = {}
        # Questions that passed; whether they are kept the chooser will say, when they have been parsed.
        self._passed = Chooser(chooser.choice)

    def sift(self, data: bytes, position: int, angles: Array, into: Sieved) -> None:
        """`angles` says where every `<` of the data is."""
        heads = _Heads(data, angles)
        passes = np.ones(len(heads.starts), bool)
        questions = np.flatnonzero(heads.kind == _QUESTION)
        passes[questions] = self._tagged(data, heads.starts[questions], heads.ends[questions])
        ids, fine = heads.ids()
        self._passed.keep(ids[questions][passes[questions] & fine[questions]])
        answers, parents = heads.answers()
        passes[answers] = self._chooser.has(parents) | self._passed.has(parents)
        into.dropped += int(np.count_nonzero(~passes))
        into.chunks += 1
        first = int(heads.starts[0]) if len(heads.starts) else len(data)
        for start, end in [(0, first), *zip(heads.starts[passes].tolist(), heads.ends[passes].tolist(), strict=True)]:
            if end > start:
                into.rows.append(data[start:end])
                into.offsets.append(position + start)
                into.size += end - start

    def _tagged(self, data: bytes, starts: Array, ends: Array) -> list[bool]:
        """A raw quote stands nowhere but around values, so that ` Tags="` is the attribute."""
        known, found = self._known, []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            place = data.rfind(b' Tags="', start, end)
            if place < 0:
                # None, or written in another way: that is for the parser to see.
                found.append(True)
                continue
            written = data[place + 7 : data.find(b'"', place + 7, end)]
            answer = known.get(written)
            if answer is None:
                answer = self._judge(written)
            found.append(answer)
        return found

    def _judge(self, written: bytes) -> bool:
        text = written.decode("utf-8", "replace").replace("&lt;", "<").replace("&gt;", ">")
        answer = "&" in text or any(map(self._chooser.choice.names_tag, tags_of(text)))
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[written] = answer
        return answer


class _Heads:
    """`<row Id="7" PostTypeId="2" ParentId="3"` of every row, as far as it is written just so."""

    def __init__(self, data: bytes, angles: Array) -> None:
        self._buffer = np.frombuffer(data, np.uint8)
        is_row = angles + len(_PAD) <= len(data)
        near_end = [place for place in angles[~is_row].tolist() if data[place : place + 4] == b"<row"]
        angles = angles[is_row]
        self._words: Array = np.ndarray((max(0, len(data) - 7),), "<u8", data, strides=(1,))
        rows = angles[(self._words[angles] & mask(4)) == word(b"<row")]
        self.starts = np.concatenate([rows, np.array(near_end, np.int64)])
        self.ends = np.append(self.starts[1:], len(data))
        self.kind = np.zeros(len(self.starts), U64)
        self._id_end = self._number_end(rows + 9)
        usual = (self._words[rows] == word(b"<row Id=")) & (self._words[self._id_end] == word(b'" PostTy'))
        self.kind[: len(rows)] = np.where(usual, self._words[self._id_end + 8], U64(0))

    def _number_end(self, starts: Array) -> Array:
        """Where the quote after a number is. Within a chunk most numbers are equally long."""
        ends = starts.copy()
        missing = np.arange(len(starts))
        for length in range(1, _LONGEST_NUMBER):
            found = self._buffer[starts[missing] + length] == 34
            ends[missing[found]] = starts[missing[found]] + length
            missing = missing[~found]
            if not len(missing):
                break
        return ends

    def ids(self) -> tuple[Array, Array]:
        """Of all rows, and which of them are true."""
        rows = self.starts[: len(self._id_end)]
        numbers, wrong = integers(self._words, rows + 9, self._id_end, self._buffer)
        all_numbers, fine = np.zeros(len(self.starts), np.int64), np.zeros(len(self.starts), bool)
        all_numbers[: len(rows)], fine[: len(rows)] = numbers, ~wrong
        return all_numbers, fine

    def answers(self) -> tuple[Array, Array]:
        """The rows that are answers, and their questions."""
        which = np.flatnonzero(self.kind == _ANSWER)
        after = self._id_end[which] + 16
        named = (self._words[after] == word(b" ParentI")) & ((self._words[after + 8] & mask(3)) == word(b'd="'))
        which, start = which[named], after[named] + 11
        parents, wrong = integers(self._words, start, self._number_end(start), self._buffer)
        return which[~wrong], parents[~wrong]
