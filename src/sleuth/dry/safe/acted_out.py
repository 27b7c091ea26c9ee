"""The commands with which scripts tidy their folders, done by Python, so that they reach no real file."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

_Options = set[str]


def act_out(commands: Sequence[Sequence[str]]) -> int | None:
    """Do what these commands say and return their exit status; None, and nothing done, where one is not known."""
    acts = [act for command in commands if (act := _understood(command)) is not None]
    if not acts or len(acts) < len(commands):
        return None
    try:
        for act in acts:
            act()
    except (OSError, shutil.Error):
        return 1
    return 0


def _understood(command: Sequence[str]) -> Callable[[], None] | None:
    name = os.path.basename(command[0]) if command else ""
    options = {letter for word in command[1:] if word[:1] == "-" for letter in word.lstrip("-")}
    words = [word for word in command[1:] if word[:1] != "-"]
    if name not in _ACTS or not words or any(word.startswith("--") for word in command[1:]):
        return None
    act, allowed = _ACTS[name]
    # Which files a pattern names is known once the commands before have been done.
    return (lambda: act(_expanded(words), options)) if options <= set(allowed) else None


def _expanded(words: list[str]) -> list[str]:
    paths = [os.path.expandvars(os.path.expanduser(word)) for word in words]
    return [one for path in paths for one in sorted(glob.glob(path)) or [path]]


def _mkdir(paths: list[str], options: _Options) -> None:
    for path in paths:
        os.makedirs(path, exist_ok=True) if "p" in options else os.mkdir(path)


def _touch(paths: list[str], options: _Options) -> None:
    for path in paths:
        Path(path).touch()


def _rm(paths: list[str], options: _Options) -> None:
    for path in paths:
        if "f" in options and not os.path.lexists(path):
            continue
        if options & {"r", "R"} and os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


def _cp(paths: list[str], options: _Options) -> None:
    *sources, target = paths
    for source in sources:
        if os.path.isdir(source) and options & {"r", "R", "a"}:
            into = os.path.join(target, os.path.basename(source.rstrip("/"))) if os.path.isdir(target) else target
            shutil.copytree(source, into, symlinks="a" in options, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)


def _mv(paths: list[str], options: _Options) -> None:
    *sources, target = paths
    for source in sources:
        shutil.move(source, target)


_ACTS: dict[str, tuple[Callable[[list[str], _Options], None], str]] = {
    "mkdir": (_mkdir, "pv"),
    "touch": (_touch, ""),
    "rm": (_rm, "rRfv"),
    "cp": (_cp, "rRafpv"),
    "mv": (_mv, "fv"),
}
