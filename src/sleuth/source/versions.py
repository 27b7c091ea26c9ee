"""Versions and ranges of them, as far as releases go: PEP 440 without pre-releases, epochs and local parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# The numbers of a version without trailing zeros, so that 2, 2.0 and 2.0.0 are one. () is older than everything.
Release = tuple[int, ...]
NEWEST: Final[Release] = (9999,)

_RELEASE = re.compile(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)")
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|=)\s*v?([0-9][0-9A-Za-z.+!*_-]*)")


def release(text: str) -> Release:
    """The numbers of "2.1.0rc1+cu118" as (2, 1); () where there are none."""
    found = _RELEASE.match(text)
    return trimmed(tuple(map(int, found[1].split(".")))) if found else ()


def trimmed(numbers: Release) -> Release:
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers


@dataclass(frozen=True, slots=True)
class Allowed:
    """The versions a project may be installed with, the ends included; `below` leaves `highest` itself out."""

    lowest: Release = NEWEST
    highest: Release = NEWEST
    below: bool = False
    where: str = ""  # the file that says so; "" where nothing does

    def reaches(self, version: Release) -> bool:
        """May it be this version or a newer one?"""
        return self.highest > version or (self.highest == version and not self.below)

    def always_has(self, version: Release) -> bool:
        """Is it this version or a newer one, whatever gets installed?"""
        return self.lowest >= version

    @property
    def bounded(self) -> bool:
        return self.lowest not in ((), NEWEST) or self.highest != NEWEST

    def __and__(self, other: Allowed) -> Allowed | None:
        """What both allow; None where that is nothing."""
        lowest = max(self.lowest, other.lowest)
        highest, included = min((self.highest, not self.below), (other.highest, not other.below))
        if lowest > highest or (lowest == highest and not included):
            return None
        return Allowed(lowest, highest, not included, self.where or other.where)

    def __or__(self, other: Allowed) -> Allowed:
        """From the lowest to the highest that either allows."""
        highest, included = max((self.highest, not self.below), (other.highest, not other.below))
        # (0,) is below every version, and yet something that was said.
        lowest = min(self.lowest, other.lowest) or (0,)
        return Allowed(lowest, highest, not included, self.where or other.where)

    def __str__(self) -> str:
        if self.lowest == NEWEST:
            return "the newest"
        low, high = (".".join(map(str, end or (0,))) for end in (self.lowest, self.highest))
        low, high = (text if "." in text else text + ".0" for text in (low, high))
        if self.lowest == self.highest:
            return low
        upper = "" if self.highest == NEWEST else f"{'<' if self.below else '<='}{high}"
        return ",".join(filter(None, (f">={low}" if any(self.lowest) else "", upper))) or "any"


ANYTHING: Final = Allowed((), NEWEST)


def specifier(text: str) -> Allowed:
    """What ">=1.8,<2" allows. Clauses without a meaning here (`!=1.9.1`, `@ file:…`) allow everything."""
    allowed = ANYTHING
    for operator, version in _CLAUSE.findall(text.split(";")[0]):
        allowed = (allowed & _clause(operator, version)) or allowed
    return allowed


def _clause(operator: str, version: str) -> Allowed:
    exact = release(version)
    numbers = written(version)
    if operator == "!=":
        return ANYTHING
    if operator in ("==", "===", "="):
        # Conda's single `=` also means "any 1.4".
        fuzzy = version.endswith("*") or operator == "="
        return Allowed(exact, following(numbers), True) if fuzzy and numbers else Allowed(exact, exact)
    if operator == "~=":
        return Allowed(exact, following(numbers[:-1] or numbers), True)
    if operator in (">=", ">"):
        return Allowed(exact, NEWEST)
    return Allowed((), exact, operator == "<")


def written(version: str) -> Release:
    """The numbers as they stand, zeros included: `~=2.0.0` is not `~=2`."""
    found = _RELEASE.match(version)
    return tuple(map(int, found[1].split("."))) if found else ()


def following(numbers: Release) -> Release:
    return trimmed((*numbers[:-1], numbers[-1] + 1)) if numbers else NEWEST
