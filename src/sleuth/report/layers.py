"""How a layer's row is said, on paper and on a page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any


def name_in_tree(row: dict[str, Any]) -> str:
    """`    conv1 Conv2d`, moved in by its depth."""
    indent: str = "  " * row["depth"]
    return indent + " ".join(filter(None, (short_name(row), row["kind"])))


def short_name(row: dict[str, Any]) -> str:
    """The last part of a layer's dotted name: the others are said by the layers it is in."""
    return str(row["name"]).rpartition(".")[2]


def shapes(given: Iterable[list[int]], times: str) -> str:
    """`32×3×224×224`; of several tensors one after the other, alike ones together: `3 of 64×196×64`."""
    said = [(times.join(map(str, shape)) or "scalar", len(list(alike))) for shape, alike in groupby(given)]
    return ", ".join(shape if count == 1 else f"{count} of {shape}" for shape, count in said)


def only(rows: list[dict[str, Any]], name: str) -> list[str]:
    """The one value all rows have in a column; none where they differ."""
    values = {row[name] for row in rows if row[name]}
    return sorted(values) if len(values) == 1 else []
