"""What a corpus is on disk: a folder of typed Parquet parts, and a manifest that says where they came from.

Everything that differs between engines is settled here, once, when posts are taken in: tags are lists, times are whole
milliseconds since 1970 in UTC, ids are integers."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

SCHEMA = 1
MANIFEST = "corpus.json"
POSTS = "posts"
SET_ASIDE = "set-aside.jsonl"

# `key` names a post across corpora (`so:40192728`, `gh:pytorch/pytorch#issues/9446`); `id` within its own source.
# `kind_of_post`: question, answer, issue, pull-request, commit or other. Answers have a `parent`.
# `accepted_ms` is when the accepted answer was written, where the source says so itself.
COLUMNS = pa.schema(
    [
        ("key", pa.string()),
        ("id", pa.int64()),
        ("site", pa.string()),
        ("kind_of_post", pa.string()),
        ("parent", pa.int64()),
        ("accepted_answer", pa.int64()),
        ("created_ms", pa.int64()),
        ("accepted_ms", pa.int64()),
        ("closed_ms", pa.int64()),
        ("active_ms", pa.int64()),
        ("score", pa.int64()),
        ("views", pa.int64()),
        ("answers", pa.int64()),
        ("comments", pa.int64()),
        ("owner", pa.int64()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("code", pa.list_(pa.string())),
        ("tags", pa.list_(pa.string())),
    ]
)


class NotACorpus(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Corpus:
    """A folder that `sleuth study ingest` or `select` has written."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def parts(self) -> list[str]:
        """The Parquet files of its posts, in order. A killed ingest may have left one that does not count."""
        if "parts" in self.manifest:
            return [str(self.folder / POSTS / part["file"]) for part in self.manifest["parts"]]
        return [str(path) for path in sorted((self.folder / POSTS).glob("*.parquet"))]


def open_corpus(folder: str | Path) -> Corpus:
    """The corpus in that folder. Raises NotACorpus."""
    folder = Path(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotACorpus(f"{folder} is not a corpus; `sleuth study ingest` makes one") from None
    except (OSError, ValueError) as error:
        raise NotACorpus(f"{folder / MANIFEST} cannot be read: {error}") from None
    if manifest.get("schema") != SCHEMA:
        raise NotACorpus(f"{folder} was written by another version of Sleuth; ingest it again")
    if not manifest.get("finished", True):
        raise NotACorpus(f"{folder} is not finished; give the same `sleuth study ingest` again, and it goes on")
    return Corpus(folder, manifest)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Replace the manifest in one go: a killed command leaves the old one or the new one."""
    draft = folder / f".{MANIFEST}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, **manifest}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, folder / MANIFEST)
