"""The history of a tensor's shape as a chain: from the input on, each layer with its line and what it made of it."""

from __future__ import annotations

from collections.abc import Iterable

from sleuth.dry.births import Birth
from sleuth.findings import Link

# Of a deep model the beginning says what came in, and the end what is wrong; the middle is passed over.
_FIRST, _LAST = 2, 6


def chain(birth: Birth) -> list[Link]:
    """The story of one tensor, the oldest first."""
    path = _path(birth)
    links = [Link(_told(one), one.place) for one in path]
    if len(links) <= _FIRST + _LAST + 1:
        return links
    between = len(links) - _FIRST - _LAST
    return [*links[:_FIRST], Link(f"… {between} layers in between …"), *links[-_LAST:]]


def chains(births: Iterable[Birth]) -> list[Link]:
    """The stories of several, what they share told once."""
    links: list[Link] = []
    for birth in births:
        links += [link for link in chain(birth) if link not in links]
    return links


def _path(birth: Birth) -> list[Birth]:
    path = [birth]
    while path[-1].parents and len(path) < 200:
        path.append(path[-1].parents[0])
    return path[::-1]


def _told(birth: Birth) -> str:
    if birth.operation == "Input":
        return f"the model is built for {birth.shape} {birth.dtype}"
    if not birth.parents:
        return f"{birth.name or birth.operation}: {birth.shape} {birth.dtype}"
    given = " and ".join(str(parent.shape) for parent in birth.parents)
    return f"{birth.layer or birth.operation}: {given} → {birth.shape}"
