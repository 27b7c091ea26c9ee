"""Rows read one by one become batches of typed posts; those that do not fit are put aside with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sleuth.study.corpus import COLUMNS
from sleuth.study.ingest.post import Post
from sleuth.study.ingest.values import Unfit

_ROWS = 2_000
_LETTERS = 8 << 20
_KEPT_LETTERS = 2_000


@dataclass(frozen=True)
class Aside:
    """A row that could not be taken in: where it begins, why, and how it begins."""

    offset: int
    why: str
    text: str


@dataclass(frozen=True)
class Item:
    """What a reader found from `start` to `end`: a value, or the reason why there is none."""

    start: int
    end: int
    # How far through the source this is, in the measure of the source's size.
    done: int
    value: Any = None
    why: str = ""
    text: str = ""


@dataclass
class Batch:
    """Posts, and the position up to which they account for everything in the source."""

    position: int
    done: int
    posts: pa.Table = field(default_factory=COLUMNS.empty_table)
    aside: list[Aside] = field(default_factory=list)
    # Rows that were seen and, by what was asked for, left out.
    left_out: int = 0


def gathered(items: Iterable[Item], posts_of: Callable[[Any, int], Iterable[Post]]) -> Iterator[Batch]:
    """`posts_of` gets a value and where it begins, and raises Unfit."""
    rows: list[Post] = []
    aside: list[Aside] = []
    letters, item = 0, None
    for item in items:
        if item.why:
            aside.append(_aside(item, item.why))
        else:
            try:
                found = list(posts_of(item.value, item.start))
            except Unfit as error:
                aside.append(_aside(item, str(error)))
            else:
                rows += found
                letters += sum(len(row["text"] or "") + sum(map(len, row["code"])) for row in found)
        # Between two records of one page there is no position to go on from.
        if (len(rows) + len(aside) >= _ROWS or letters >= _LETTERS) and item.end > item.start:
            yield Batch(item.end, item.done, pa.Table.from_pylist(rows, COLUMNS), aside)
            rows, aside, letters = [], [], 0
    if item is not None and (rows or aside):
        yield Batch(item.end, item.done, pa.Table.from_pylist(rows, COLUMNS), aside)


def shortened(text: str) -> str:
    return text if len(text) <= _KEPT_LETTERS else text[:_KEPT_LETTERS] + "…"


def _aside(item: Item, why: str) -> Aside:
    text = item.text or ("" if item.value is None else repr(item.value))
    return Aside(item.start, why, shortened(text))
