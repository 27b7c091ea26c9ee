"""The figures that the four studies printed, as data, and how ours stand beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import floor
from pathlib import Path
from typing import Any

from sleuth.study.result import Comparison, Result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = Path(__file__).parent / "studies"


class NoStudy(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Printed:
    """One column of a printed table: the value that stands beside each row's name."""

    analysis: str
    column: str
    values: Mapping[str, float]
    # What the labels of the table answer ("phase"); nothing where the table has none.
    role: str | None = None
    # How many digits after the point the paper gives; none for counts, which are not rounded.
    decimals: int | None = None
    above: bool = False
    # Only beside a table that was made for this study, with its own order of frameworks.
    asked: bool = False
    where: str = ""
    note: str = ""
    notes: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Study:
    """One of the four papers."""

    name: str
    source: str
    title: str
    posts: int
    # In the order that decides where a post has tags of several.
    frameworks: tuple[str, ...]
    # The labels that are the study's own: beside these its figures always stand.
    own: tuple[str, ...]
    # Labels that only its posts have: they tell which posts of a corpus are the study's.
    marks: tuple[str, ...]
    funnel: tuple[Mapping[str, Any], ...]
    printed: tuple[Printed, ...]
    # Everything else in its file: tables that only one analysis reads.
    extra: Mapping[str, Any]


def study_names() -> list[str]:
    """The studies that come with Sleuth."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def load_study(name: str) -> Study:
    """Raises NoStudy."""
    if name not in study_names():
        raise NoStudy(f"there is no study {name!r}; there are {', '.join(study_names())}")
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return Study(
        name=name,
        source=data.pop("source"),
        title=data.pop("title"),
        posts=data.pop("posts"),
        frameworks=tuple(data.pop("frameworks")),
        own=tuple(data.get("own", ())),
        marks=tuple(data.pop("marks", data.pop("own", ()))),
        funnel=tuple(data.pop("funnel", ())),
        printed=tuple(Printed(**table) for table in data.pop("printed", ())),
        extra=data,
    )


def all_studies() -> list[Study]:
    return [load_study(name) for name in study_names()]


def beside(
    result: Result, analysis: str, role: str | None, studies: Iterable[Study], keys: int = 1, asked: bool = True
) -> Result:
    """The result with each of its cells that a study prints beside the printed one.

    A row is named by its first `keys` columns, joined by slashes."""
    rows = {"/".join(str(part) for part in row[:keys]): row for row in result.rows}
    found = [
        _comparison(study, table, name, printed, rows, result.columns.index(table.column))
        for study in studies
        for table in study.printed
        if table.analysis == analysis and table.role == role and table.column in result.columns
        if asked or not table.asked
        for name, printed in table.values.items()
    ]
    return replace(result, comparisons=(*result.comparisons, *found))


def _comparison(
    study: Study, table: Printed, name: str, printed: float, rows: Mapping[str, tuple[Any, ...]], column: int
) -> Comparison:
    ours = _sum_of(name, rows, column)
    within, cut = how_near(ours, printed, table.decimals)
    notes = (table.note, (table.notes or {}).get(name, ""), cut)
    return Comparison(
        what=f"{name}: {table.column}",
        ours=ours,
        published=printed,
        source=f"{study.source}, {table.where}" if table.where else study.source,
        within=within,
        note="; ".join(note for note in notes if note),
        bound="above" if table.above else "exactly",
    )


def _sum_of(name: str, rows: Mapping[str, tuple[Any, ...]], column: int) -> float | None:
    """The cell of that row; where a paper prints several rows together, `data + logic`, their sum."""
    cells = [rows[part][column] for part in name.split(" + ") if part in rows]
    numbers = [cell for cell in cells if cell is not None]
    return sum(numbers) if numbers else None


def how_near(ours: float | None, printed: float, decimals: int | None) -> tuple[float, str]:
    """How far ours may be from a number printed with so many digits, and a remark where digits were cut off."""
    if decimals is None:
        return 0.0, ""
    unit = 10.0**-decimals
    if ours is None or abs(ours - printed) <= unit / 2 + 1e-9:
        return unit / 2, ""
    if ours > 0 and abs(floor(ours / unit + 1e-9) * unit - printed) < 1e-9:
        return unit, f"printed with the further digits cut off, not rounded ({ours:.{decimals + 2}f})"
    return unit / 2, ""
