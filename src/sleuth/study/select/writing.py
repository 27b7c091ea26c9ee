"""A selection becomes a corpus of its own: whole or not at all, and never over something that is not a corpus."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sleuth.study import engine
from sleuth.study.corpus import COLUMNS, MANIFEST, POSTS, Corpus, open_corpus, write_manifest
from sleuth.study.select.preset import Preset
from sleuth.study.select.selection import Selection


class CannotWrite(Exception):
    """`str()` of it is the one line to show."""


def check_free(into: Path, source: Path, force: bool) -> None:
    """Raises CannotWrite if a corpus may not be put there."""
    if into.exists() and source.exists() and into.samefile(source):
        raise CannotWrite(f"{into} is the corpus to select from; give another folder")
    if not into.exists() or (into.is_dir() and not any(into.iterdir())):
        return
    if not (into / MANIFEST).is_file():
        raise CannotWrite(f"{into} is there already, and is not a corpus; give another folder")
    if not force:
        raise CannotWrite(f"{into} is there already; --force replaces it")


def write(connection: Any, selection: Selection, preset: Preset, source: Corpus, into: Path, force: bool) -> Corpus:
    """Write the posts of a selection, and how they were come by. Raises CannotWrite."""
    check_free(into, source.folder, force)
    with _draft_beside(into) as draft:
        _write_parts(connection, selection.table, draft / POSTS)
        posts = _count(draft / POSTS)
        if posts != selection.posts:
            reason = f"{selection.posts:,} posts were selected and {posts:,} arrived"
            raise CannotWrite(f"{reason}; do all workers of the cluster write to {into.parent.absolute()}?")
        write_manifest(draft, _manifest(selection, preset, source, posts))
        if into.exists():
            shutil.rmtree(into)
        draft.rename(into)
    return open_corpus(into)


def _write_parts(connection: Any, table: Any, folder: Path) -> None:
    if engine.is_spark(connection):
        from sleuth.study import spark

        spark.write(connection, table, folder)
    else:
        folder.mkdir()
        connection.to_parquet(table, folder / "part-00000.parquet", compression="zstd")
    for part in folder.iterdir():
        if _types(pq.read_schema(part)) != _types(COLUMNS):
            raise CannotWrite(f"{part.name} came out with other columns than a corpus has")


def _types(schema: Any) -> list[tuple[str, Any]]:
    """Names and types of columns; an engine may add that one of them happens to hold no null."""
    return [(field.name, getattr(field.type, "value_type", field.type)) for field in schema]


def _count(folder: Path) -> int:
    return sum(int(pq.read_metadata(part).num_rows) for part in folder.iterdir())


def _manifest(selection: Selection, preset: Preset, source: Corpus, posts: int) -> dict[str, Any]:
    steps = [{"step": step.title, "filters": _plain(step.filters), "by_hand": step.by_hand} for step in preset.steps]
    return {
        "from": str(source.folder.resolve()),
        "source": source.manifest.get("source"),
        "posts": posts,
        "preset": {"name": preset.name, "title": preset.title, "source": preset.source, "text": preset.text},
        "steps": steps,
        "funnel": [step.as_data() for step in selection.funnel],
    }


def _plain(value: Any) -> Any:
    """Values of TOML as values of JSON: a day is written as 2018-12-31."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value


@contextmanager
def _draft_beside(into: Path) -> Iterator[Path]:
    draft = into.parent / f".{into.name}.{os.getpid()}.part"
    try:
        draft.mkdir(parents=True)
        yield draft
    except OSError as error:
        raise CannotWrite(f"cannot write to {into}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
