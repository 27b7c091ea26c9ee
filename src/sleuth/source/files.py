"""Which files to check: what the user named, and the Python files and notebooks below the folders they named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sleuth.source import ignoring
from sleuth.source.ignoring import Patterns

SUFFIXES = (".py", ".ipynb")
_NEVER = frozenset({"venv", "site-packages", "node_modules", "build", "dist", "__pycache__"})
# So many entries of a folder are looked at to see whether leaving it out leaves programs out.
_LOOKED_AT = 2_000
_ROOTS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


class NoSuchPath(Exception):
    """A path that the user named is not there; `str()` of it is the one line to show."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The absolute paths of the files to check, in order, each once; and the files and folders with programs in them
    that a .gitignore left out."""

    files: tuple[str, ...]
    left_out: tuple[str, ...]


def survey(paths: Iterable[str], exclude: Sequence[Patterns] = (), *, also_named: bool = False) -> Survey:
    """What there is to check. Raises NoSuchPath.

    A file named directly is always among it, unless `also_named` lets the exclusions speak of those too."""
    found: dict[str, str] = {}
    left_out: dict[str, None] = {}
    for path in paths:
        absolute = os.path.abspath(path)
        if os.path.isdir(absolute):
            named: Iterable[str] = _below(absolute, _lists_above(absolute), exclude, left_out)
        elif os.path.exists(absolute):
            _ensure_readable(path, absolute)
            named = [] if also_named and any(patterns.names(absolute) for patterns in exclude) else [absolute]
        else:
            raise NoSuchPath(f"{path}: no such file or folder")
        for file in named:
            found.setdefault(os.path.realpath(file), file)
    return Survey(tuple(sorted(found.values(), key=lambda file: file.split(os.sep))), tuple(left_out))


def root_of(path: str) -> str:
    """The folder of the project that a file belongs to: where a repository or a package begins, else its own folder."""
    folder = os.path.dirname(path)
    here = folder
    while True:
        if any(os.path.exists(os.path.join(here, mark)) for mark in _ROOTS):
            return here
        parent = os.path.dirname(here)
        if parent == here:
            break
        here = parent
    while os.path.exists(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _ensure_readable(path: str, absolute: str) -> None:
    if not os.access(absolute, os.R_OK):
        raise NoSuchPath(f"{path} cannot be read: permission denied")


def _below(folder: str, lists: list[Patterns], exclude: Sequence[Patterns], left_out: dict[str, None]) -> Iterator[str]:
    own = ignoring.read(os.path.join(folder, ".gitignore"), folder)
    lists = lists if own is None else [*lists, own]
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not entry.name.endswith(SUFFIXES):
            continue
        if (is_folder and _is_never_checked(entry)) or any(one.verdict(entry.path, is_folder) for one in exclude):
            continue
        if _left_out(entry.path, is_folder, lists):
            if not is_folder or _may_hold_programs(entry.path):
                left_out[entry.path] = None
        elif is_folder:
            yield from _below(entry.path, lists, exclude, left_out)
        elif entry.is_file():
            yield entry.path


def _may_hold_programs(folder: str) -> bool:
    seen = 0
    for _, _, names in os.walk(folder):
        if any(name.endswith(SUFFIXES) for name in names[: _LOOKED_AT - seen]):
            return True
        seen += len(names) + 1
        if seen >= _LOOKED_AT:
            return True
    return False


def _is_never_checked(folder: os.DirEntry[str]) -> bool:
    if folder.name.startswith(".") or folder.name in _NEVER:
        return True
    return os.path.exists(os.path.join(folder.path, "pyvenv.cfg"))


def _left_out(path: str, is_folder: bool, lists: list[Patterns]) -> bool:
    """The deepest list that speaks of the path decides."""
    for patterns in reversed(lists):
        verdict = patterns.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _lists_above(folder: str) -> list[Patterns]:
    """The .gitignore files between the top of the repository and a folder in it, the top first."""
    above: list[Patterns] = []
    here = folder
    while not os.path.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return []
        here = parent
        above.append(ignoring.read(os.path.join(here, ".gitignore"), here) or Patterns(here, ()))
    excluded = ignoring.read(os.path.join(here, ".git", "info", "exclude"), here)
    return [*([] if excluded is None else [excluded]), *reversed(above)]
