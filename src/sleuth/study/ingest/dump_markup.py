"""What the markup of a chunk's texts is: which bytes go, which few change, and where blocks of code are.

In a dump markup stands escaped (`&lt;p&gt;`), so every tag, entity and line end of a body begins with an ampersand, and
a list of these is all there is to look at. It must come out as `prose.of_html` has it; rows with anything rare in
them are marked as bad instead, and left to it."""

from __future__ import annotations

import numpy as np

from sleuth.study.ingest.dump_cells import Cells
from sleuth.study.ingest.words64 import U64, Array, Words, mask, word

TITLE, BODY, TAGS = 0, 1, 2

_XML = Words([b"lt;", b"gt;", b"amp;", b"quot;", b"apos;", b"#xA;", b"#xD;", b"#x9;", b"#39;"])
_LT, _GT, _AMP = 1, 2, 3
_LENGTH = np.array([1, 4, 4, 5, 6, 6, 5, 5, 5, 5], np.int64)
_LETTER = np.frombuffer(b"\0<>&\"'\n\r\t'", np.uint8)
# What an escaped ampersand begins: the entities of HTML that are common.
_HTML_NAMES = [b"lt;", b"gt;", b"amp;", b"quot;", b"#39;", b"nbsp;", b"hellip;", b"mdash;", b"ndash;", b"rarr;"]
_HTML = Words(_HTML_NAMES)
_HTML_LENGTH = np.array([0, *map(len, _HTML_NAMES)], np.int64)
# What they stand for, in UTF-8: up to three bytes.
_HTML_LETTERS = [letter.encode() for letter in "&<>&\"'\xa0…—–→"]
_HTML_WIDTH = np.array([len(letter) for letter in _HTML_LETTERS], np.int64)
_HTML_BYTES = np.array([list(letter.ljust(3, b"\0")) for letter in _HTML_LETTERS], np.uint8)
_BAR = 124
_INLINE = Words(
    [
        *(
            b"a&gt;",
            b"b&gt;",
            b"i&gt;",
            b"s&gt;",
            b"em&gt;",
            b"sub&gt;",
            b"sup&gt;",
            b"kbd&gt;",
            b"del&gt;",
            b"code&gt;",
        ),
        *(b"strong&g", b"img "),
    ]
)
_NEWLINE = word(b"&#xA;")
_BEGINS_TAG = np.zeros(256, bool)
_BEGINS_TAG[list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/!")] = True
_MOST_NEWLINES = 3


class Markup:
    """The markup of these spans of a chunk, which are in order; `kinds` says whether title, body or tags."""

    def __init__(self, cells: Cells, starts: Array, ends: Array, rows: Array, kinds: Array) -> None:
        self._cells, self._words = cells, cells.words
        self._starts, self._ends, self._rows, self._span_kind = starts, ends, rows, kinds
        self._gather()
        self._name()
        self._find_tags()
        self._find_blocks()
        self._judge_line_ends()
        self._judge_tag_lists()

    def _gather(self) -> None:
        """The ampersands inside of the spans, the events. A row with any elsewhere is for the slow way."""
        events = self._cells.ampersands
        low, high = np.searchsorted(events, self._starts), np.searchsorted(events, self._ends)
        counts = high - low
        before = np.cumsum(counts) - counts
        self._span = np.repeat(np.arange(len(counts)), counts)
        self._kind = np.repeat(self._span_kind, counts)
        self._first_of_span, self._count_of_span = before, counts
        if len(self._span) == len(events):
            self._at = events
            return
        self._at = events[np.repeat(low - before, counts) + np.arange(len(self._span))]
        in_row = np.searchsorted(events, self._cells.row_ends) - np.searchsorted(events, self._cells.row_starts)
        known = np.bincount(self._rows, counts, len(in_row)).astype(np.int64)
        self._cells.bad |= in_row != known

    def _name(self) -> None:
        """Which entity each event is, how long it is and what it stands for."""
        name = _XML.find(self._words[1:][self._at])
        self._mark_bad(np.flatnonzero(name == 0))
        self._length, self._letter = _LENGTH.take(name), _LETTER.take(name)
        inner = np.flatnonzero((name == _AMP) & (self._kind == BODY))
        html = _HTML.find(self._words[self._at[inner] + 5])
        self._length[inner] += _HTML_LENGTH[html]
        self._letter[inner] = _HTML_BYTES[html, 0]
        wide = _HTML_WIDTH[html] > 1
        self._wide, self._wide_name = inner[wide], html[wide]
        self._strange = inner[html == 0]
        self._entity = name

    def _mark_bad(self, events: Array) -> None:
        """The rows of these events, given by index."""
        self._cells.bad[self._rows[self._span[events]]] = True

    def _find_tags(self) -> None:
        """A tag is `<` with a letter, `/` or `!` after it, up to the next `>`, with no `<` between."""
        name = self._entity
        angles = np.flatnonzero((name <= _GT) & (self._kind == BODY))
        opens = name.take(angles) == _LT
        places = np.flatnonzero(opens[:-1] & ~opens[1:])
        left, right = angles.take(places), angles.take(places + 1)
        is_tag = self._span.take(left) == self._span.take(right)
        start = self._at.take(left)
        is_tag &= _BEGINS_TAG.take(self._cells.buffer[4:].take(start))
        self._tag_first, self._tag_last = left.compress(is_tag), right.compress(is_tag)
        self._tag_start = start.compress(is_tag)
        self._tag_end = self._at.take(self._tag_last) + _LENGTH[_GT]
        self._in_tag = np.zeros(len(self._at), bool)
        self._in_tag[self._tag_first] = self._in_tag[self._tag_last] = True
        between = self._tag_last - self._tag_first - 1
        holding = np.flatnonzero(between)
        self._in_tag[_ranges(self._tag_first[holding] + 1, between[holding])] = True
        self._mark_bad(self._strange[~self._in_tag[self._strange]])

    def _find_blocks(self) -> None:
        """<pre> and </pre>, in turn; their line ends after them go with them."""
        inside = self._words[self._tag_start + 4]
        fourth = (inside >> U64(24)) & U64(0xFF)
        lower = inside | U64(0x2020202020202020)
        opening = ((inside & mask(3)) == word(b"pre")) & ((fourth == U64(32)) | (fourth == U64(38)))
        closing = inside == word(b"/pre&gt;")
        like_it = ((lower & mask(3)) == word(b"pre")) | ((lower & mask(4)) == word(b"/pre"))
        self._mark_bad(self._tag_first[like_it & ~opening & ~closing])
        which = self._in_turn(np.flatnonzero(opening | closing), opening)
        self._open, self._close = which[0::2], which[1::2]
        self.block_span = self._span[self._tag_first[self._open]]
        self.block_start = self._tag_start[self._open]
        own_line = (self.block_start == self._starts[self.block_span]) | self._is_newline(self.block_start - 5)
        self._mark_bad(self._tag_first[self._open[~own_line]])
        self._swallow_newlines()

    def _in_turn(self, which: Array, opening: Array) -> Array:
        """Only those of bodies in which opening and closing tags alternate."""
        if not len(which):
            return which
        span = self._span[self._tag_first[which]]
        is_new = np.append(True, span[1:] != span[:-1])
        groups = np.flatnonzero(is_new)
        sizes = np.diff(np.append(groups, len(which)))
        rank = np.arange(len(which)) - np.repeat(groups, sizes)
        wrong = (opening[which] != (rank % 2 == 0)) | np.repeat(sizes % 2 == 1, sizes)
        self._mark_bad(self._tag_first[which[wrong]])
        wrong_group = np.logical_or.reduceat(wrong, groups)
        return np.asarray(which[~np.repeat(wrong_group, sizes)])

    def _is_newline(self, places: Array) -> Array:
        return np.asarray((self._words[np.maximum(places, 0)] & mask(5)) == _NEWLINE)

    def _swallow_newlines(self) -> None:
        end = self._tag_end[self._close].copy()
        after = self._tag_last[self._close] + 1
        swallowed = []
        for _ in range(_MOST_NEWLINES):
            is_newline = self._is_newline(end)
            swallowed.append(after[is_newline])
            end += 5 * is_newline
            after = after + is_newline
        self._mark_bad(self._tag_first[self._close[self._is_newline(end)]])
        self.block_end = end
        self._swallowed = np.concatenate(swallowed)

    def _judge_line_ends(self) -> None:
        """Tags that stand directly between two words, where not all of them are inline ones, are for the slow way."""
        change = np.zeros(len(self._tag_start) + 1, np.int8)
        change[self._open] += 1
        change[self._close + 1] -= 1
        tags = np.flatnonzero(np.cumsum(change[:-1], dtype=np.int8) == 0)
        if not len(tags):
            return
        start, end = self._tag_start[tags], self._tag_end[tags]
        apart = start[1:] != end[:-1]
        first, last = np.flatnonzero(np.append(True, apart)), np.flatnonzero(np.append(apart, True))
        span = self._span[self._tag_first[tags[first]]]
        start, end = start[first], end[last]
        buffer = self._cells.buffer
        rest = np.flatnonzero(~self._is_newline(end))
        rest = rest[buffer[start[rest] - 1] != 32]
        rest = rest[~self._is_newline(start[rest] - 5) & (buffer[end[rest]] != 32)]
        rest = rest[(start[rest] != self._starts[span[rest]]) & (end[rest] != self._ends[span[rest]])]
        doubtful = tags[_ranges(first[rest], last[rest] - first[rest] + 1)]
        inside = self._words[self._tag_start[doubtful] + 4]
        closes = (inside & U64(0xFF)) == U64(47)
        inside = np.where(closes, self._words[self._tag_start[doubtful] + 5], inside)
        inline = (_INLINE.find(inside) > 0) | ((inside & mask(2)) == word(b"a ")) | ((inside & mask(1)) == word(b"!"))
        breaking = doubtful[~inline]
        if len(breaking):
            after_block = np.isin(self._tag_start[breaking], self.block_end)
            self._mark_bad(self._tag_first[breaking[~after_block]])

    def _judge_tag_lists(self) -> None:
        """`<a><b>` or `|a|b|`, nothing else."""
        spans = np.flatnonzero(self._span_kind == TAGS)
        buffer, words = self._cells.buffer, self._words
        start, end = self._starts[spans], self._ends[spans]
        count, first = self._count_of_span[spans], self._first_of_span[spans]
        piped = (buffer[start] == _BAR) & (buffer[end - 1] == _BAR) & (count == 0)
        angled = ((words[start] & mask(4)) == word(b"&lt;")) & ((words[end - 4] & mask(4)) == word(b"&gt;"))
        self._cells.bad[self._rows[spans[~(piped | (angled & (count % 2 == 0)) | (start == end))]]] = True
        rank = _ranges(np.zeros_like(count), count)
        events = np.repeat(first, count) + rank
        at, name = self._at[events], self._entity[events]
        limit = np.repeat(end, count)
        opens = rank % 2 == 0
        following = np.append(at[1:], 0)
        wrong = name != np.where(opens, _LT, _GT)
        # After `>` comes `<` or the end; between `<` and `>` is at least a letter.
        wrong |= ~opens & (at + 4 != np.where(at + 4 == limit, limit, following))
        wrong |= opens & (following == at + 4)
        self._mark_bad(events[wrong])
        self._tag_opens, self._tag_closes = events[opens], events[~opens]
        # How many tags `<a><b>` has; 0 where bars do not tell.
        self.named_tags = count // 2

    def removed(self) -> tuple[Array, Array]:
        """The bytes to go, as ordered intervals that do not overlap."""
        start, end = self._at + 1, self._at + self._length
        start[self._wide] += _HTML_WIDTH[self._wide_name] - 1
        start[self._swallowed] -= 1
        start[self._tag_opens] -= 1
        start[self._tag_first], end[self._tag_first] = self._tag_start, self._tag_end
        goes = ~self._in_tag
        goes[self._tag_first] = True
        return start.compress(goes), end.compress(goes)

    def write_letters(self) -> None:
        """Put what entities stand for in their place, into the chunk. Nothing can be looked at afterwards."""
        buffer = self._cells.buffer
        self._letter[self._tag_closes] = _BAR
        # Those inside of tags go with them.
        buffer[self._at] = self._letter
        for place in (1, 2):
            wider = _HTML_WIDTH[self._wide_name] > place
            buffer[self._at[self._wide[wider]] + place] = _HTML_BYTES[self._wide_name[wider], place]


def _ranges(firsts: Array, counts: Array) -> Array:
    """So many numbers from each first one on, one range after the other."""
    before = np.cumsum(counts) - counts
    return np.asarray(np.repeat(firsts - before, counts) + np.arange(counts.sum()))
