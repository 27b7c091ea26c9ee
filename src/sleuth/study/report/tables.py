"""The report's numbers for another program: a folder with one CSV or Parquet file a table, and a list of them."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from sleuth.study.report.content import Report, verdict
from sleuth.study.report.names import file_names
from sleuth.study.result import Result

LIST = "report.json"
SCHEMA = 1
Format = Literal["csv", "parquet"]


class CannotWrite(Exception):
    """`str()` of it is the one line to show."""


def check_free(folder: Path) -> None:
    """Raises CannotWrite unless nothing is there, or an earlier report's tables."""
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return
    except OSError as error:
        raise CannotWrite(f"cannot write to {folder}: {error.strerror}") from None
    if not (folder / LIST).is_file():
        raise CannotWrite(f"{folder} is there already, and holds no tables of a report; give another folder")


def write(report: Report, folder: Path, format: Format) -> list[str]:
    """Write the folder whole or not at all; the names of its files. Raises CannotWrite."""
    check_free(folder)
    found = list(all_tables(report))
    names = [f"{name}.{format}" for name in file_names([table.name for table in found])]
    with _draft_beside(folder) as draft:
        for name, table in zip(names, found, strict=True):
            _write_csv(table, draft / name) if format == "csv" else _write_parquet(table, draft / name)
        about = {"schema": SCHEMA, "title": report.title, "made": report.made, "tables": _listed(names, found)}
        (draft / LIST).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return [LIST, *names]


def all_tables(report: Report) -> Iterator[Result]:
    """Every analysis, then what stands beside them."""
    yield from report.results
    yield Result("comparisons", "Beside the published figures", _COMPARED, tuple(_comparisons(report)))
    if report.funnel:
        rows = tuple((step.name, step.posts, step.published) for step in report.funnel)
        yield Result("funnel", "How the posts were selected", ("step", "posts", "published"), rows)
    for passage in report.method:
        if passage.table is not None:
            yield Result(f"method.{passage.table.name}", passage.title, passage.table.columns, passage.table.rows)
    facts = tuple((part.title, fact.name, fact.value, fact.note) for part in report.method for fact in part.facts)
    yield Result("method", "Method", ("part", "name", "value", "note"), facts)
    told = tuple((threat.title, threat.weight, threat.text) for threat in report.threats)
    yield Result("threats", "Threats to validity", ("threat", "weight", "text"), told)
    missing = tuple((item.name, item.title, item.why) for item in report.not_run)
    yield Result("not-run", "Analyses that could not be run", ("name", "title", "why"), missing)


_COMPARED = (
    "analysis",
    "figure",
    "here",
    "published",
    "bound",
    "difference",
    "within",
    "verdict",
    "source",
    "note",
)


def _comparisons(report: Report) -> Iterator[tuple[Any, ...]]:
    for result, item in report.comparisons:
        here = None if item.ours is None else float(item.ours)
        yield (
            result.name,
            item.what,
            here,
            float(item.published),
            item.bound,
            item.difference if item.difference is None else float(item.difference),
            float(item.within),
            verdict(item),
            item.source,
            item.note,
        )


def _listed(names: list[str], found: list[Result]) -> list[dict[str, Any]]:
    return [
        {
            "file": name,
            "name": table.name,
            "title": table.title,
            "rows": len(table.rows),
            "columns": list(table.columns),
            "note": table.note,
        }
        for name, table in zip(names, found, strict=True)
    ]


def _write_csv(table: Result, path: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table.columns)
    writer.writerows([["" if value is None else value for value in row] for row in table.rows])
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def _write_parquet(table: Result, path: Path) -> None:
    columns = [_array([row[index] for row in table.rows]) for index in range(len(table.columns))]
    about = {"title": table.title, "note": table.note, "name": table.name}
    pq.write_table(pa.table(columns, names=list(table.columns)).replace_schema_metadata(about), path)


def _array(values: list[Any]) -> Any:
    """Numbers as numbers; a column of several kinds as text."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        whole = all(isinstance(value, int) for value in known)
        return pa.array(values if whole else [None if v is None else float(v) for v in values])
    if not known:
        return pa.array(values, pa.string())
    if len({type(value) for value in known}) == 1:
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values])


@contextmanager
def _draft_beside(folder: Path) -> Iterator[Path]:
    """A folder that takes the place of `folder` once its block has ended well."""
    draft = folder.parent / f".{folder.name}.{os.getpid()}.part"
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        yield draft
        if folder.exists():
            shutil.rmtree(folder)
        draft.rename(folder)
    except OSError as error:
        raise CannotWrite(f"cannot write to {folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
