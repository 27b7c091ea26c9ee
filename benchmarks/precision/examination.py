"""What `sleuth check` says of each corpus, and the lines that it speaks of."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from precision.corpora import CACHE, Corpus, corpora
from sleuth import notebook

EXAMINED = CACHE / "examined"
SEVERE = ("error", "warning")


class CannotExamine(Exception):
    """`sleuth check` did not do its job; `str()` of it is what it said."""


@dataclass(frozen=True)
class Found:
    """A finding in a corpus. `digest` is that of the line, so that a label can be seen to be of this very text."""

    group: str
    corpus: str
    version: str
    path: str
    line: int
    diagnosis: str
    digest: str
    severity: str
    certainty: str
    title: str
    story: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, int, str, str]:
        return (self.corpus, self.version, self.path, self.line, self.diagnosis, self.digest)

    @cached_property
    def id(self) -> str:
        return hashlib.sha256("\0".join(map(str, self.key)).encode()).hexdigest()[:10]

    def excerpt(self, around: int = 6) -> str:
        """The line and its neighbours, numbered."""
        lines = _lines(_folder(self.corpus, self.version) / notebook.split_name(self.path)[0], self.path)
        first = max(self.line - around, 1)
        shown = enumerate(lines[first - 1 : self.line + around], first)
        return "\n".join(f"{'>' if number == self.line else ' '}{number:5} {line}" for number, line in shown)


def examine(corpus: Corpus) -> tuple[list[Found], dict[str, Any]]:
    """All errors and warnings in a corpus, on all cores and without a cache; and how large it is."""
    with tempfile.TemporaryDirectory(prefix="precision-") as folder:
        output = Path(folder) / "report.json"
        command = [sys.executable, "-m", "sleuth", "check", ".", "--no-cache", "--format", "json", "--output"]
        done = subprocess.run([*command, str(output)], cwd=corpus.folder, capture_output=True, text=True)
        if not output.exists():
            raise CannotExamine(f"{corpus.name}: status {done.returncode}: {done.stderr.strip()[-1000:]}")
        findings = json.loads(output.read_text(encoding="utf-8"))["findings"]
    found = {one.id: one for one in _severe(corpus, findings)}
    about = {"group": corpus.group, "version": corpus.version, "said": done.stderr.strip()[-1000:]}
    return list(found.values()), {**about, **_size(corpus.folder)}


def _severe(corpus: Corpus, findings: Iterable[dict[str, Any]]) -> Iterator[Found]:
    for finding in findings:
        place = finding["place"]
        if finding["severity"] not in SEVERE or place is None:
            continue
        lines = _lines(corpus.folder / notebook.split_name(place["path"])[0], place["path"])
        text = lines[place["line"] - 1].strip() if place["line"] <= len(lines) else ""
        yield Found(
            corpus.group,
            corpus.name,
            corpus.version,
            place["path"],
            place["line"],
            finding["diagnosis"],
            hashlib.sha256(text.encode()).hexdigest()[:12],
            finding["severity"],
            finding["certainty"],
            finding["title"],
            tuple(_told(link) for link in finding["chain"]),
        )


def _told(link: dict[str, Any]) -> str:
    place = link["place"]
    return link["what"] if place is None else f"{link['what']} ({place['path']}:{place['line']})"


def write(corpus: Corpus, found: Iterable[Found], about: dict[str, Any]) -> None:
    """Keep what was found in a corpus until it is examined again."""
    EXAMINED.mkdir(exist_ok=True)
    told = {"about": about, "findings": [asdict(one) for one in found]}
    _file(corpus).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def read() -> tuple[list[Found], dict[str, Any]]:
    """What was found when each corpus was last examined."""
    found: list[Found] = []
    about: dict[str, Any] = {}
    for corpus in corpora():
        if _file(corpus).exists():
            told = json.loads(_file(corpus).read_text(encoding="utf-8"))
            # A corpus may have changed its group since.
            about[corpus.name] = {**told["about"], "group": corpus.group}
            changed = ({**entry, "story": tuple(entry["story"]), "group": corpus.group} for entry in told["findings"])
            found += [Found(**entry) for entry in changed]
    if not about:
        raise CannotExamine("nothing was examined yet: python benchmarks/precision run")
    return found, about


def _file(corpus: Corpus) -> Path:
    return EXAMINED / f"{corpus.folder.name}.json"


def _size(folder: Path) -> dict[str, int]:
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".ipynb")]
    lines = sum(path.read_bytes().count(b"\n") for path in files if path.suffix == ".py")
    return {"files": len(files), "lines": lines}


@lru_cache(maxsize=64)
def _lines(file: Path, path: str) -> list[str]:
    """The lines of a file as Python counts them, or those of the cell that the path names."""
    text = file.read_bytes().decode("utf-8", errors="replace")
    _, number = notebook.split_name(path)
    if number is not None:
        cell = notebook.parse(text).cell(number)
        text = "" if cell is None else cell.text
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@lru_cache(maxsize=1)
def _folders() -> dict[tuple[str, str], Path]:
    return {(corpus.name, corpus.version): corpus.folder for corpus in corpora()}


def _folder(name: str, version: str) -> Path:
    return _folders()[name, version]
