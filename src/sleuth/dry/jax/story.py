"""The history of an array's shape as a chain, a line of the user's at a time."""

from __future__ import annotations

from collections.abc import Iterable

from sleuth.dry.births import Birth
from sleuth.findings import Link

_MOST = 8


def chains(births: Iterable[Birth]) -> list[Link]:
    """The stories of several arrays, what they share told once."""
    links: list[Link] = []
    for birth in births:
        links += [link for link in chain(birth) if link not in links]
    return links


def chain(birth: Birth) -> list[Link]:
    """From the argument it began as to what it is now."""
    path = _by_line(_path(birth))
    links = [Link(_told(one, before), one.place) for before, one in zip([None, *path], path, strict=False)]
    return links if len(links) <= _MOST else [links[0], Link("…"), *links[-_MOST + 2 :]]


def _path(birth: Birth) -> list[Birth]:
    """Back through what has a history of its own: weights have none."""
    path = [birth]
    while path[-1].parents and len(path) < 200:
        parents = path[-1].parents
        path.append(next((parent for parent in parents if parent.parents), parents[0]))
    return path[::-1]


def _by_line(path: list[Birth]) -> list[Birth]:
    """Of all that one line does, the last."""
    kept: list[Birth] = []
    for birth in path:
        before = kept[-1].place if kept else None
        if before is not None and birth.place is not None and before.line == birth.place.line:
            kept.pop()
        kept.append(birth)
    return kept


def _told(birth: Birth, before: Birth | None) -> str:
    name = birth.name or birth.operation
    if before is None:
        what = "the argument " if birth.operation == "argument" else ""
        return f"{what}{name}: {birth.shape} {birth.dtype}"
    return f"{name}: {before.shape} → {birth.shape}"
