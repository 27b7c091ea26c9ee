"""One array that the other file keeps in pieces: a fused projection as query, key and value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sleuth.compare.values import Array


@dataclass(frozen=True, slots=True)
class Cut:
    """From `start` to `end` along the first or the last axis; a piece of length one loses that axis."""

    start: int
    end: int
    last: bool
    single: bool

    def __call__(self, array: Array) -> Array:
        piece = array[..., self.start : self.end] if self.last else array[self.start : self.end]
        return (piece[..., 0] if self.last else piece[0]) if self.single else piece

    def code(self, name: str) -> str:
        place = str(self.start) if self.single else f"{self.start}:{self.end}"
        return f"{name}[..., {place}]" if self.last else f"{name}[{place}]"

    def says(self) -> str:
        place = str(self.start) if self.single else f"{self.start} to {self.end}"
        return f"{place} along its {'last' if self.last else 'first'} axis"


def pieces(
    whole: Array, others: Mapping[str, Array], alike: Callable[[Array, Array], Any], keep_axis: bool = False
) -> list[tuple[str, Cut, Any]]:
    """The other arrays that it falls into, without a rest, and how `alike` each is to its piece; else nothing."""
    for last in (False, True)[: whole.ndim]:
        if last and whole.ndim == 1:
            continue
        found = _tiled(whole, others, alike, last, keep_axis)
        if len(found) > 1:
            return found
    return []


def _tiled(
    whole: Array, others: Mapping[str, Array], alike: Callable[[Array, Array], Any], last: bool, keep_axis: bool
) -> list[tuple[str, Cut, Any]]:
    length = whole.shape[-1 if last else 0]
    found: list[tuple[str, Cut, Any]] = []
    start = 0
    while start < length:
        taken = {name for name, _, _ in found}
        left = {name: array for name, array in others.items() if name not in taken}
        fitting = next(_starting(whole, left, alike, last, keep_axis, start), None)
        if fitting is None:
            return []
        found.append(fitting)
        start = fitting[1].end
    return found


def _starting(
    whole: Array,
    others: Mapping[str, Array],
    alike: Callable[[Array, Array], Any],
    last: bool,
    keep_axis: bool,
    start: int,
) -> Iterator[tuple[str, Cut, Any]]:
    length = whole.shape[-1 if last else 0]
    row = whole.size // length
    for name, array in others.items():
        count = array.size // row if row else 0
        if not count or array.size % row or array.size == whole.size or start + count > length:
            continue
        cut = Cut(start, start + count, last, count == 1 and whole.ndim > 1 and not keep_axis)
        if (found := alike(cut(whole), array)) is not None:
            yield name, cut, found
