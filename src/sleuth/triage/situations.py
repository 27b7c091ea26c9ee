"""Kinds of symptom that people tell in any words and order, in `situations.toml`: what to run for each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from sleuth.triage.prose import prose, sentences

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = os.path.join(os.path.dirname(__file__), "situations.toml")
_MOST_SENTENCES = 60


@dataclass(frozen=True)
class Situation:
    """`next` holds names of engines, and commands with the reason for them, as that of a signature."""

    name: str
    kind: str
    needs: tuple[str, ...]
    why: str
    next: tuple[str | dict[str, str], ...]

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(need, re.ASCII) for need in self.needs)

    def is_in(self, window: str) -> bool:
        return all(pattern.search(window) for pattern in self._patterns)


def situation(text: str) -> Situation | None:
    """The first of the list that two sentences of the text tell of, the earliest sentences first."""
    windows = list(_windows(text))
    return next((one for one in _all() if any(one.is_in(window) for window in windows)), None)


def _windows(text: str) -> Iterator[str]:
    found = [part for part in sentences(prose(text).lower()) if part.strip()][:_MOST_SENTENCES]
    for one, other in zip(found, [*found[1:], ""], strict=True) if found else ():
        yield f"{one} . {other}"


@cache
def _all() -> tuple[Situation, ...]:
    with open(_FILE, "rb") as file:
        rows = tomllib.load(file)["situation"]
    return tuple(
        Situation(row["name"], row["kind"], tuple(row["needs"]), row["why"], tuple(row["next"])) for row in rows
    )
