"""What a file's result rests on besides contents: which modules its imports could mean, and what the project declares.

A result must not outlive the arrival of a file that an import had looked for in vain."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator

from sleuth.source.declarations import reader_of
from sleuth.source.files import root_of

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]*([.\w]+)[ \t]*import\b([ \t]*\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#;]+))", re.MULTILINE
)
_NAME = re.compile(rb"[\w.]+")


class Surroundings:
    """Listings of folders, each read once."""

    def __init__(self) -> None:
        self._modules: dict[str, frozenset[str]] = {}
        self._declared: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        self._depths: dict[tuple[str, str], int] = {}

    def around(self, path: str, data: bytes) -> str:
        """Changes when an import in a Python file comes to mean another file, or a declared version changes."""
        folders = self._folders_up(path)
        told = [self._declarations(folder) for folder in folders]
        imported = sorted(_imported(data))
        for base in (*folders, os.path.join(folders[-1], "src")):
            here = self._in(base)
            told += [f"{dotted}:{self._depth(base, dotted)}" for first, dotted in imported if first in here]
            told.append("")
        return "\0".join(told)

    def _folders_up(self, path: str) -> list[str]:
        here = os.path.dirname(path)
        if here not in self._roots:
            self._roots[here] = root_of(path)
        root, folders = self._roots[here], [here]
        while folders[-1] != root and os.path.dirname(folders[-1]) != folders[-1]:
            folders.append(os.path.dirname(folders[-1]))
        return folders

    def _depth(self, base: str, dotted: str) -> int:
        """How many parts of a dotted name there are modules or folders for below a folder."""
        known = self._depths.get((base, dotted))
        if known is None:
            known = self._depths[base, dotted] = self._measured(base, dotted.split("."))
        return known

    def _measured(self, base: str, parts: list[str]) -> int:
        for depth, part in enumerate(parts):
            if part not in self._in(base):
                return depth
            base = os.path.join(base, part)
        return len(parts)

    def _in(self, folder: str) -> frozenset[str]:
        if folder not in self._modules:
            names = _listed(folder)
            self._modules[folder] = frozenset(name.removesuffix(".py") for name in names if "." not in name[:-3])
        return self._modules[folder]

    def _declarations(self, folder: str) -> str:
        if folder not in self._declared:
            digest = hashlib.sha256()
            for path in sorted(_declaring(folder)):
                digest.update(os.path.basename(path).encode("utf-8", "surrogatepass") + b"\0" + _content(path))
            self._declared[folder] = digest.hexdigest()
        return self._declared[folder]


def _imported(data: bytes) -> set[tuple[str, str]]:
    """The names in import statements, their first parts and whole; too many rather than too few."""
    found: set[bytes] = set()
    for module, names, plain in _IMPORT.findall(data):
        base = module.lstrip(b".")
        found.add(base)
        found.update(b"%s.%s" % (base, name) for name in _NAME.findall(names))
        found.update(_NAME.findall(plain))
    dotted = (name.decode("utf-8", "replace").strip(".") for name in found)
    return {(name.partition(".")[0], name) for name in dotted if name}


def _declaring(folder: str) -> Iterator[str]:
    for name in _listed(folder):
        path = os.path.join(folder, name)
        if reader_of(name) is not None and os.path.isfile(path):
            yield path
        elif name == "requirements":
            yield from (os.path.join(path, inner) for inner in _listed(path) if inner.endswith((".txt", ".in")))


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
