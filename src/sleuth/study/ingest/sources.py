"""What the user points at: which files hold posts, in which format, of which site; and which do not, and why."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sleuth.study.ingest import columns, streams
from sleuth.study.ingest.values import site_named_in

ANY_SITE = "stackexchange"
_HEAD = 1 << 16
_TABLES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
_JSON = (".json", ".jsonl", ".ndjson")
_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")


class CannotIngest(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Source:
    """One file of posts."""

    path: Path
    format: str
    packing: str
    site: str
    size: int
    # Tells whether it is still the same file when a later run goes on.
    print_of_it: str
    member: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    # Nothing: as the file itself has it.
    encoding: str = ""

    @property
    def name(self) -> str:
        return str(self.path)


def find(path: Path, site: str | None, asked: Mapping[str, str], encoding: str = "") -> tuple[list[Source], list[str]]:
    """The sources at a path, and a line for each file in a folder that is none. Raises CannotIngest."""
    if not path.exists():
        raise CannotIngest(f"there is no {path}")
    if not path.is_dir():
        found = _recognise(path, site, asked, encoding)
        if isinstance(found, str):
            raise CannotIngest(f"{path} {found}")
        return [found], []
    sources, others = [], []
    for file in sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")):
        found = _recognise(file, site, asked, encoding)
        if isinstance(found, str):
            others.append(f"{file} {found}")
        else:
            sources.append(found)
    if not sources:
        raise CannotIngest(f"{path} holds no posts{': ' + others[0] if len(others) == 1 else ''}")
    return sources, others


def _recognise(path: Path, site: str | None, asked: Mapping[str, str], encoding: str) -> Source | str:
    """The source that a file is, or why it is none."""
    try:
        return _opened(path, site, asked, encoding)
    except streams.Damaged as error:
        return f"cannot be read: {error}"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def _opened(path: Path, site: str | None, asked: Mapping[str, str], encoding: str) -> Source | str:
    suffix, packing, member = path.suffix.lower(), "", None
    if suffix == ".gz":
        packing, suffix = "gz", Path(path.stem).suffix.lower()
    elif suffix == ".7z":
        packing, suffix = "7z", ".xml"
        member = next((name for name in streams.members(path) if name.lower().endswith("posts.xml")), None)
        if member is None:
            return "holds no Posts.xml"
    if suffix == ".parquet" and not packing:
        form = _parquet(path, asked)
    else:
        stream = streams.open_at(path, packing, member, 0, encoding)
        try:
            form = _format(suffix, streams.head(stream, _HEAD), asked)
        finally:
            stream.close()
    if form.startswith("!"):
        return form[1:]
    size = streams.member_size(path, member) if member else path.stat().st_size
    site = site or site_named_in(path.name) or site_named_in(str(path.absolute().parent)) or ANY_SITE
    return Source(path, form, packing, site, size, _print_of(path), member, dict(asked), encoding)


def _format(suffix: str, head: bytes, asked: Mapping[str, str]) -> str:
    """A format's name; or `!` and the reason why it has none."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return "!is empty"
    if suffix in _TABLES or (suffix == ".txt" and b"," in start):
        return _table(start, asked)
    if suffix in _JSON or start[:1] in b"{[":
        if start[:1] not in (b"{", b"["):
            return "!is not JSON"
        return "jsonl" if suffix in (".jsonl", ".ndjson") else "json"
    if start.startswith(b"<"):
        root = _ROOT.search(start)
        if root is None or root.group(1) not in (b"posts", b"row"):
            return f"!is not a dump of posts: it begins with <{root.group(1).decode() if root else '?'}>"
        return "dump"
    return "!is in no format that Sleuth knows"


def _table(start: bytes, asked: Mapping[str, str]) -> str:
    from sleuth.study.ingest.tables import header

    return _fitting(header(start.decode("utf-8", "replace").splitlines()), asked, "csv")


def _parquet(path: Path, asked: Mapping[str, str]) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(path).names
    except pa.ArrowException as error:
        return f"!cannot be read as Parquet: {str(error).splitlines()[0]}"
    return _fitting(names, asked, "parquet")


def _fitting(names: list[str], asked: Mapping[str, str], form: str) -> str:
    lacking = [name for name in asked.values() if name not in names]
    if lacking:
        return f"!has no column {lacking[0]!r}; it has {', '.join(names)}"
    if not columns.are_posts(columns.meanings(names, asked)):
        return f"!has no column for a title or a text (--column title=NAME says which); it has {', '.join(names)}"
    return form


def _print_of(path: Path) -> str:
    """Of its size, its beginning and its end: reading a hundred gigabytes to know them again would take minutes."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        digest = hashlib.sha256(f"{size}:".encode() + file.read(_HEAD))
        file.seek(max(0, size - _HEAD))
        digest.update(file.read(_HEAD))
    return digest.hexdigest()[:16]
