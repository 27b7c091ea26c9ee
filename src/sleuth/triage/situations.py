"""Kinds of symptom that people tell in any words and order, in `situations.toml`: what to run and read for each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from sleuth.triage.prose import prose, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = os.path.dirname(__file__)
_FILES = ("situations.toml", "situation_pages.toml")
_MOST_SENTENCES = 60
# In a longer text, words that stand anywhere have little to do with each other.
_SHORT = 1200
_NAME = re.compile(r"<(\w+)>")


@dataclass(frozen=True)
class Situation:
    """`next` holds names of engines, and commands with the reason for them, as that of a signature. `page` is the
    diagnosis that the words tell, surely or as a `hint`; `also` is what else they may mean, `ruled_out` what not."""

    name: str
    kind: str
    needs: tuple[str, ...]
    why: str
    next: tuple[str | dict[str, str], ...]
    unless: tuple[str, ...] = ()
    page: str | None = None
    also: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()
    hint: bool = False
    wish: bool = False
    ours: bool = False
    anywhere: bool = False

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(need, re.ASCII) for need in self.needs)

    @cached_property
    def _exceptions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(exception, re.ASCII) for exception in self.unless)

    def is_in(self, windows: list[str], text: str) -> bool:
        places = [text] if self.anywhere and len(text) <= _SHORT else windows
        told = any(all(pattern.search(place) for pattern in self._patterns) for place in places)
        return told and not any(exception.search(text) for exception in self._exceptions)


def situation(text: str) -> Situation | None:
    """The first of the list that two sentences of the text tell of."""
    windows = list(_windows(text))
    return next((one for one in _all() if one.is_in(windows, text.lower())), None)


def _windows(text: str) -> Iterator[str]:
    found = [part for part in sentences(prose(text).lower()) if part.strip()][:_MOST_SENTENCES]
    for one, other in zip(found, [*found[1:], ""], strict=True) if found else ():
        yield f"{one} . {other}"


@cache
def _all() -> tuple[Situation, ...]:
    """What is asked for, then what tells a page, then the others."""
    kinds, pages = (_content(file) for file in _FILES)
    rows = [*kinds["situation"], *pages["situation"]]
    rows.sort(key=lambda row: (not row.get("wish", False), "page" not in row))
    return tuple(_situation(row, kinds["words"]) for row in rows)


def _content(name: str) -> dict[str, Any]:
    with open(os.path.join(_FOLDER, name), "rb") as file:
        return tomllib.load(file)


def _situation(row: dict[str, Any], words: dict[str, str]) -> Situation:
    return Situation(
        name=row["name"],
        kind=row["kind"],
        needs=tuple(_spelled_out(need, words) for need in row["needs"]),
        why=row["why"],
        next=tuple(row["next"]),
        unless=tuple(_spelled_out(exception, words) for exception in row.get("unless", ())),
        page=row.get("page"),
        also=tuple(row.get("also", ())),
        ruled_out=tuple(row.get("not", ())),
        hint=row.get("hint", False),
        wish=row.get("wish", False),
        ours=row.get("ours", False),
        anywhere=row.get("anywhere", False),
    )


def _spelled_out(pattern: str, words: dict[str, str]) -> str:
    """With the words that stand for each name, which may hold names themselves."""
    while _NAME.search(pattern):
        pattern = _NAME.sub(lambda found: words[found[1]], pattern)
    return pattern
