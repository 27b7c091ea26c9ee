"""What was found in a file, kept until the file, a file it depends on, or Sleuth changes."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import sleuth
from sleuth.findings import finding_from_json, finding_to_json
from sleuth.source.engine import Examined
from sleuth.source.surroundings import Surroundings

_FORMAT = 1
# Plenty for a project of millions of lines; the entries used longest ago go first.
_MOST_ENTRIES = 20_000
_MOST_BYTES = 200_000_000
_KEPT_WHEN_FULL = 0.75
_A_DAY = 86_400.0
_PART = ".part"


class Cache:
    """A folder with one small file a result. Whatever is wrong with it, the result is found out anew.

    Files are read when they are first asked for: a file that changes while it is examined is then stored under what it
    was before, and never believed."""

    def __init__(self, folder: str | None, settings: Iterable[str]) -> None:
        self._folder = folder
        self._settings = _digest("\0".join((str(_FORMAT), fingerprint(), *settings)).encode("utf-8", "surrogatepass"))
        self._surroundings = Surroundings()
        self._contents: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._began = time.time()
        self._wrote = False

    def note(self, path: str, data: bytes) -> None:
        """The content of a file that has been read anyway."""
        if self._folder is not None:
            around = self._surroundings.around(path, data)
            self._contents[path] = _digest(data + around.encode("utf-8", "surrogatepass"))

    def find(self, path: str, shown: str) -> Examined | None:
        """The result for a file as it is now, if it is known."""
        if self._folder is None:
            return None
        entry = self._entry(path, shown)
        try:
            with open(entry, "rb") as file:
                told = json.loads(file.read())
                _say_used(file.fileno())
            dependencies = tuple(map(self._absolute, told["dependencies"]))
            if told["contents"] != self._contents_of(dependencies):
                return None
            findings = tuple(map(finding_from_json, told["findings"]))
            problem = told["problem"]
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return Examined(findings, dependencies, problem) if problem is None or isinstance(problem, str) else None

    def keep(self, path: str, shown: str, examined: Examined) -> None:
        if self._folder is None or examined.broken or not all(map(self._is_settled, examined.dependencies)):
            return
        told = {
            "dependencies": list(map(self._relative, examined.dependencies)),
            "contents": self._contents_of(examined.dependencies),
            "findings": [finding_to_json(finding) for finding in examined.findings],
            "problem": examined.problem,
        }
        try:
            self._write(self._entry(path, shown), told)
        except OSError:
            # A full or read-only disk: the next files would fare no better.
            self._folder = None

    def close(self) -> None:
        """Make room where the folder has grown too large."""
        if self._wrote and self._folder is not None:
            _prune(self._folder)

    def _entry(self, path: str, shown: str) -> str:
        key = _digest(f"{self._settings}\0{shown}\0{self._content(path)}".encode("utf-8", "surrogatepass"))
        return os.path.join(self._folder or "", f"{key}.json")

    def _content(self, path: str) -> str:
        """The digest of a file and of what its imports mean; empty for a file that is not there."""
        if path not in self._contents:
            try:
                with open(path, "rb") as file:
                    self.note(path, file.read())
            except (OSError, ValueError):
                self._contents[path] = ""
        return self._contents[path]

    def _contents_of(self, paths: Iterable[str]) -> str:
        return _digest("".join(map(self._content, paths)).encode())

    def _is_settled(self, path: str) -> bool:
        """A file first read after it was examined may have changed in between."""
        if path in self._contents:
            return True
        try:
            return os.stat(path).st_mtime < self._began
        except (OSError, ValueError):
            return True

    def _relative(self, path: str) -> str:
        # So that the folder may move, or be kept from one build to the next.
        return os.path.relpath(path, self._folder)

    def _absolute(self, name: str) -> str:
        if name not in self._named:
            self._named[name] = os.path.normpath(os.path.join(self._folder or "", name))
        return self._named[name]

    def _write(self, entry: str, told: dict[str, Any]) -> None:
        folder = os.path.dirname(entry)
        if not self._wrote:
            _make(folder)
            self._wrote = True
        draft = f"{entry}.{os.getpid()}{_PART}"
        try:
            with open(draft, "w", encoding="utf-8") as file:
                json.dump(told, file, separators=(",", ":"))
            os.replace(draft, entry)
        except OSError:
            if os.path.exists(draft):
                os.unlink(draft)
            raise


@cache
def fingerprint() -> str:
    """Changes whenever Sleuth could find something else, or tell it differently."""
    package = os.path.dirname(os.path.abspath(sleuth.__file__))
    told = hashlib.sha256(f"{sleuth.__version__} {platform.python_version()}".encode())
    for path in sorted(_own_files(package)):
        with open(path, "rb") as file:
            told.update(f"\0{os.path.relpath(path, package)}\0".encode() + file.read())
    return told.hexdigest()


def _own_files(package: str) -> Iterable[str]:
    for name in os.listdir(package):
        if name.endswith(".py"):
            yield os.path.join(package, name)
    for part in ("source", "handbook"):
        for folder, _, names in os.walk(os.path.join(package, part)):
            yield from (os.path.join(folder, name) for name in names if not name.endswith((".pyc", ".pyo")))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _make(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    unwanted = os.path.join(os.path.dirname(folder), ".gitignore")
    if not os.path.exists(unwanted):
        with open(unwanted, "w", encoding="utf-8") as file:
            file.write("*\n")


def _say_used(descriptor: int) -> None:
    if time.time() - os.fstat(descriptor).st_mtime > _A_DAY and os.utime in os.supports_fd:
        os.utime(descriptor)


def _prune(folder: str) -> None:
    found: list[tuple[float, int, str]] = []
    try:
        for entry in os.scandir(folder):
            about = entry.stat(follow_symlinks=False)
            if entry.name.endswith(_PART) and time.time() - about.st_mtime > _A_DAY:
                _remove(entry.path)
            elif entry.name.endswith(".json"):
                found.append((about.st_mtime, about.st_size, entry.path))
    except OSError:
        return
    entries, size = len(found), sum(bytes_ for _, bytes_, _ in found)
    if entries <= _MOST_ENTRIES and size <= _MOST_BYTES:
        return
    for _, bytes_, path in sorted(found):
        if entries <= _MOST_ENTRIES * _KEPT_WHEN_FULL and size <= _MOST_BYTES * _KEPT_WHEN_FULL:
            return
        _remove(path)
        entries, size = entries - 1, size - bytes_


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # Another command was quicker.
        return
