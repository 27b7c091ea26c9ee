"""The zoo's programs: bugs, their healthy twins, and the healthy programs without a twin."""

from __future__ import annotations

import fnmatch
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Program:
    name: str
    folder: Path
    run: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """A program of several files is a package; one of a single file stands alone, whatever lies beside it."""
        if self.run[0] != "-m":
            return [self.folder / self.run[0]]
        return sorted((self.folder / self.run[1].partition(".")[0]).rglob("*.py"))

    @property
    def script(self) -> Path:
        """The file that is started, seen from the folder."""
        return Path(*self.run[1].split(".")).with_suffix(".py") if self.run[0] == "-m" else Path(self.run[0])

    @property
    def digest(self) -> str:
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in self.files)).hexdigest()[:16]

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """A copy in a folder of its own: some rivals write beside the program."""
        with tempfile.TemporaryDirectory(prefix="rivals-") as name:
            for path in self.files:
                target = Path(name) / path.relative_to(self.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
            yield Path(name)


@dataclass(frozen=True)
class Case:
    """A bug and its twin, or a healthy program alone."""

    name: str
    healthy: Program
    bug: Program | None = None
    diagnosis: str | None = None

    @property
    def programs(self) -> list[Program]:
        return [self.healthy] if self.bug is None else [self.bug, self.healthy]


def cases(zoo: Path, pattern: str | None) -> list[Case]:
    """The live bugs of training that does not learn, which have no wrong step of their own; or those of the pattern."""

    def chosen(name: str, default: bool) -> bool:
        return default if pattern is None else any(fnmatch.fnmatch(name, part) for part in pattern.split(","))

    found = []
    for path in sorted(zoo.glob("*/case.toml")):
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        name = path.parent.name
        if manifest["engine"] == "live" and chosen(name, "step" not in manifest):
            bug = Program(f"{name}/bug", path.parent, tuple(manifest.get("run", ["bug.py"])))
            healthy = Program(f"{name}/healthy", path.parent, tuple(manifest.get("run_healthy", ["healthy.py"])))
            found.append(Case(name, healthy, bug, manifest["diagnosis"]))
    for path in sorted((zoo / "healthy").glob("*.py")):
        name = f"healthy/{path.stem}"
        if chosen(name, True):
            found.append(Case(name, Program(name, path.parent, (path.name,))))
    return found
