"""Patterns that leave files out, as a .gitignore has them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    folders_only: bool
    keeps: bool


class Patterns:
    """The lines of one list of patterns, which speak of what is below a folder."""

    def __init__(self, folder: str, lines: Iterable[str]) -> None:
        self._below = os.path.join(folder, "")
        self._rules = [rule for rule in map(_rule, lines) if rule is not None][::-1]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Is the path left out? None where no line speaks of it. The last line that does decides."""
        if not path.startswith(self._below):
            return None
        name = path[len(self._below) :].replace(os.sep, "/")
        for rule in self._rules:
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(name):
                return not rule.keeps
        return None

    def names(self, path: str) -> bool:
        """Does a line name this file, or a folder that it is in?"""
        if not path.startswith(self._below):
            return False
        if self.verdict(path, is_folder=False):
            return True
        parent = os.path.dirname(path)
        while parent.startswith(self._below) and parent != os.path.dirname(parent):
            if self.verdict(parent, is_folder=True):
                return True
            parent = os.path.dirname(parent)
        return False


def read(path: str, folder: str) -> Patterns | None:
    """The patterns in a file, or None where there is none to read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return Patterns(folder, file.read().split("\n"))
    except OSError:
        return None


@cache
def _rule(line: str) -> _Rule | None:
    line = _without_trailing_space(line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line[keeps:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        return None
    # A slash anywhere but at the end ties the pattern to the folder of the list.
    tied = "/" in line
    try:
        pattern = re.compile(("" if tied else "(?:.*/)?") + _expression(line.removeprefix("/")), re.DOTALL)
    except re.error:
        return None
    return _Rule(pattern, folders_only, keeps)


def _without_trailing_space(line: str) -> str:
    stripped = line.rstrip(" ")
    escaped = (len(stripped) - len(stripped.rstrip("\\"))) % 2
    return line[: len(stripped) + 1] if escaped and len(line) > len(stripped) else stripped


def _expression(glob: str) -> str:
    """The regular expression of one pattern."""
    written: list[str] = []
    at = 0
    while at < len(glob):
        piece, at = _piece(glob, at)
        written.append(piece)
    return "".join(written)


def _piece(glob: str, at: int) -> tuple[str, int]:
    letter = glob[at]
    if letter == "*":
        return _stars(glob, at)
    if letter == "?":
        return "[^/]", at + 1
    if letter == "\\":
        # At the very end it matches nothing.
        return (re.escape(glob[at + 1]), at + 2) if at + 1 < len(glob) else (_NOTHING, at + 1)
    if letter == "[":
        return _class(glob, at)
    return re.escape(letter), at + 1


def _stars(glob: str, at: int) -> tuple[str, int]:
    """Two or more where a name would be stand for any folders; all others stay within a name."""
    end = at
    while glob.startswith("*", end):
        end += 1
    alone = end - at > 1 and (at == 0 or glob[at - 1] == "/")
    if alone and glob.startswith("/", end):
        return "(?:.*/)?", end + 1
    if alone and end == len(glob):
        return ".+" if at else ".*", end
    return "[^/]*", end


def _class(glob: str, at: int) -> tuple[str, int]:
    """`[a-z]`, `[!a]`; a bracket that is never closed matches nothing."""
    members = _CLASS.match(glob, at)
    if members is None:
        return _NOTHING, len(glob)
    inside = "".join(map(_member, _MEMBER.finditer(members[2])))
    if members[1]:
        return f"[^/{inside}]", members.end()
    return f"(?!/)[{inside}]" if inside else _NOTHING, members.end()


def _member(member: re.Match[str]) -> str:
    if member["named"]:
        return _NAMED.get(member["named"], "")
    first = member["first"][-1]
    last = member["last"][-1] if member["last"] else first
    return f"{re.escape(first)}-{re.escape(last)}" if first <= last else ""


_NOTHING = "(?!)"
_CLASS = re.compile(r"(?s)\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]")
_MEMBER = re.compile(r"(?s)\[:(?P<named>\w+):\]|(?P<first>\\.|.)(?:-(?P<last>\\.|.))?")
_NAMED = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "space": " \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
