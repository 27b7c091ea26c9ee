"""What an analysis gives: a table, how to draw it, and how it compares with what a paper printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Drawing = Literal["bars", "stacked-bars", "lines", "heatmap", "scatter"]


@dataclass(frozen=True)
class Figure:
    """How to draw a result: which of its columns goes where. `series` splits the drawing by a column's values."""

    drawing: Drawing
    x: str
    y: str
    series: str | None = None
    # A heatmap's numbers; a scatter's labels.
    value: str | None = None


@dataclass(frozen=True)
class Comparison:
    """One number beside the paper's own."""

    what: str
    ours: float | None
    published: float
    # Where it is printed: "Liu et al., popularity".
    source: str
    # Printed figures are rounded: how far ours may be from it and still be the same.
    within: float = 0.0
    note: str = ""
    # Some papers print only a bound: "more than 66 %".
    bound: Literal["exactly", "above"] = "exactly"

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - self.published

    @property
    def same(self) -> bool:
        difference = self.difference
        if difference is None:
            return False
        return difference > 0 if self.bound == "above" else abs(difference) <= self.within + 1e-9


@dataclass(frozen=True)
class Result:
    """A named table. Rows hold plain Python values in the order of `columns`."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    figure: Figure | None = None
    comparisons: tuple[Comparison, ...] = ()
    # What a reader must know to read it rightly: how it was computed, what it leaves out.
    note: str = ""
