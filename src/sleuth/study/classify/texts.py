"""The texts to classify: the posts of a corpus, or JSON lines with a key and a text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from sleuth.study.asked import is_asked_in_arrow
from sleuth.study.corpus import MANIFEST, open_corpus

_COLUMNS = ["key", "kind_of_post", "title", "text", "code"]
_ROWS = 2000


class NoTexts(Exception):
    """`str()` of it is the one line to show."""


def text_of(title: str | None, text: str | None, code: Iterable[str | None] | None = None) -> str:
    """A post as classifiers read it: title, text, code blocks, an empty line between."""
    parts = [title, text, *(code or ())]
    return "\n\n".join(part.strip() for part in parts if part and part.strip())


def batches_of(path: str | Path, wanted: Collection[str] | None = None) -> Iterator[list[tuple[str, str]]]:
    """Keys and texts, some thousand at a time: never the whole corpus in memory. Answers are left out.

    Raises NoTexts and NotACorpus."""
    path = Path(path)
    return _from_lines(path, wanted) if path.is_file() else _from_corpus(path, wanted)


def number_of(path: str | Path) -> int:
    """How many texts there are at most, for a progress line."""
    import pyarrow.dataset as ds

    path = Path(path)
    if path.is_file():
        with open(path, "rb") as file:
            return sum(1 for _ in file)
    parts = open_corpus(path).parts
    return int(ds.dataset(parts, format="parquet").count_rows()) if parts else 0


def fingerprint(path: str | Path) -> str:
    """Which corpus this is, wherever it lies. Raises NotACorpus."""
    path = Path(path)
    manifest = path if path.is_file() else open_corpus(path).folder / MANIFEST
    return hashlib.sha256(manifest.read_bytes()).hexdigest()[:16]


def _from_corpus(folder: Path, wanted: Collection[str] | None) -> Iterator[list[tuple[str, str]]]:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    parts = open_corpus(folder).parts
    if not parts:
        return
    chosen = is_asked_in_arrow() if wanted is None else pc.field("key").isin(list(wanted))
    for batch in ds.dataset(parts, format="parquet").to_batches(columns=_COLUMNS, filter=chosen, batch_size=_ROWS):
        rows = batch.to_pylist()
        if rows:
            yield [(row["key"], text_of(row["title"], row["text"], row["code"])) for row in rows]


def _from_lines(path: Path, wanted: Collection[str] | None) -> Iterator[list[tuple[str, str]]]:
    found: list[tuple[str, str]] = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            row = _row(line, f"line {number} of {path}")
            if wanted is None or row["key"] in wanted:
                body = row.get("text") or row.get("body")
                found.append((row["key"], text_of(row.get("title"), body, row.get("code"))))
            if len(found) >= _ROWS:
                yield found
                found = []
    if found:
        yield found


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        raise NoTexts(f"{where} is not JSON; give a corpus, or JSON lines with key, title and text") from None
    if not isinstance(row, dict) or not isinstance(row.get("key"), str):
        raise NoTexts(f"{where} has no key; give a corpus, or JSON lines with key, title and text")
    return row
