"""The corpus being written: parts appear whole or not at all, and the manifest says up to where they are confirmed.

A killed run leaves at most a draft and an unconfirmed part behind; the next one removes them and goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from sleuth.study.corpus import COLUMNS, MANIFEST, POSTS, SCHEMA, SET_ASIDE, write_manifest
from sleuth.study.ingest.rows import Aside
from sleuth.study.ingest.sources import CannotIngest

_DRAFT = ".part.draft"
_LOCK = ".lock"
# Engines read large groups of rows faster than many small ones.
_ROW_GROUP_BYTES = 32 << 20
# Few different values: a dictionary pays. For texts it would cost time and save nothing.
_REPEATED = ["site", "kind_of_post", "tags.list.element"]


class Folder:
    """Takes batches, confirms them part by part."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.Table] = []
        self._waiting_bytes = 0
        self._rows = 0
        # What is not confirmed yet: bytes of posts, and bytes of sources that were read for them.
        self.held = 0
        self.read = 0
        (path / POSTS).mkdir(parents=True, exist_ok=True)
        self._lock = _locked(path)
        self._forget_unconfirmed()
        # From here on the folder is known as ours, even if nothing is ever confirmed.
        write_manifest(path, manifest)
        self._aside = open(path / SET_ASIDE, "ab")  # noqa: SIM115

    def add(self, posts: pa.Table, aside: Iterable[Aside], source: str) -> None:
        for row in aside:
            told = {"source": source, "offset": row.offset, "why": row.why, "text": row.text}
            self._aside.write(json.dumps(told).encode() + b"\n")
            self.manifest["set_aside"] += 1
        if len(posts):
            self._waiting.append(posts)
            self._waiting_bytes += posts.nbytes
            self._rows += len(posts)
            self.held += posts.nbytes
        if self._waiting_bytes >= _ROW_GROUP_BYTES:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            if self._writer is None:
                self._writer = _writer(self.path / POSTS / _DRAFT)
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting, self._waiting_bytes = [], 0

    def confirm(self) -> None:
        """From now on, what was added is never lost."""
        self._write()
        self._aside.flush()
        os.fsync(self._aside.fileno())
        self.manifest["set_aside_bytes"] = self._aside.tell()
        if self._writer is not None:
            self._writer.close()
            self._publish()
        write_manifest(self.path, self.manifest)
        self._rows = self.held = self.read = 0

    def _publish(self) -> None:
        self._writer = None
        draft = self.path / POSTS / _DRAFT
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        name = f"part-{len(self.manifest['parts']):05}.parquet"
        os.replace(draft, self.path / POSTS / name)
        _sync_folder(self.path / POSTS)
        self.manifest["parts"].append({"file": name, "posts": self._rows})
        self.manifest["posts"] += self._rows

    def close(self) -> None:
        """Leave; what is not confirmed goes."""
        if self._writer is not None:
            self._writer.close()
        self._aside.close()
        self._forget_unconfirmed()
        self._lock.close()

    def _forget_unconfirmed(self) -> None:
        confirmed = {part["file"] for part in self.manifest["parts"]}
        for file in self.path.glob(f".{MANIFEST}.*"):
            file.unlink()
        for file in (self.path / POSTS).iterdir():
            if file.name == _DRAFT or (file.name.startswith("part-") and file.name not in confirmed):
                file.unlink()
        with suppress(FileNotFoundError):
            os.truncate(self.path / SET_ASIDE, self.manifest["set_aside_bytes"])


def empty_manifest(sources: list[dict[str, Any]], choice: dict[str, Any]) -> dict[str, Any]:
    return {
        "made_by": "ingest",
        "finished": False,
        "posts": 0,
        "set_aside": 0,
        "left_out": 0,
        "came_twice": 0,
        "set_aside_bytes": 0,
        "choice": choice,
        "sources": sources,
        "parts": [],
    }


def found_in(path: Path) -> dict[str, Any] | None:
    """The manifest of an earlier run into this folder, None if there was none. Raises CannotIngest."""
    if path.exists() and not path.is_dir():
        raise CannotIngest(f"{path} is a file, not a folder")
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        if path.exists() and any(file.name != POSTS and not file.name.startswith(".") for file in path.iterdir()):
            raise CannotIngest(f"{path} holds other files; give the corpus a folder of its own") from None
        return None
    except (OSError, ValueError) as error:
        raise CannotIngest(f"{path / MANIFEST} cannot be read: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA or manifest.get("made_by") != "ingest":
        raise CannotIngest(f"{path} holds a corpus that was not ingested by this version; use another folder")
    return manifest


def emptied(path: Path) -> None:
    """Remove what ingest has written, and nothing else. The manifest goes first: without it nothing counts."""
    for file in (path / MANIFEST, path / SET_ASIDE, *(path / POSTS).glob("part-*.parquet")):
        file.unlink(missing_ok=True)


def _locked(path: Path) -> IO[bytes]:
    """Two runs into one folder would remove each other's parts. The lock ends with its process, however that ends."""
    file = open(path / _LOCK, "wb")  # noqa: SIM115
    if os.name == "posix":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise CannotIngest(f"another ingest is writing to {path}") from None
    return file


def _writer(path: Path) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path, COLUMNS, compression="zstd", compression_level=1, use_dictionary=_REPEATED, write_statistics=True
    )


def _sync_folder(path: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
