"""How places, moments, numbers and counts are said, and how the user's own text is made safe to show."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

from sleuth import kernel
from sleuth.findings import Certainty, Finding, Fix, Link, Place, Severity, Value
from sleuth.notebook import split_name

GROUPS: dict[Certainty, str] = {"certain": "Certain", "likely": "Likely", "hint": "Hints"}
# Python calls these unprintable, but they only join letters and emoji.
_JOINERS = "\u200c\u200d"


def by_certainty(findings: Iterable[Finding]) -> Iterator[tuple[Certainty, tuple[Finding, ...]]]:
    """The findings in three groups, surest first, leaving out the empty ones."""
    everything = tuple(findings)
    for certainty in GROUPS:
        group = tuple(finding for finding in everything if finding.certainty == certainty)
        if group:
            yield certainty, group


def clean(text: str) -> str:
    """The text with anything that could steer a terminal or hide letters spelled out: ESC becomes `\\x1b`."""
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if character == "\t":
        return "    "
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def tried(fix: Fix) -> str:
    """What is to be said behind a fix. A safe one changes no meaning, so there is nothing to try."""
    return " (verified)" if fix.verified else "" if fix.safe else " (not tried)"


def sentence(text: str) -> str:
    """The text on one line."""
    return clean(" ".join(text.split()))


def where(place: Place) -> str:
    if kernel.is_cell(place.path):
        return f"{place.path}, line {place.line}"
    column = "" if place.column is None else f":{place.column}"
    return f"{clean(posix(place.path))}:{place.line}{column}"


def posix(path: str) -> str:
    return path.replace("\\", "/")


def when(finding: Finding) -> str:
    """`at step 412`: 412 optimiser steps were completed before it."""
    words = [] if finding.step is None else [f"at step {finding.step:,}"]
    if finding.rank is not None:
        words.append(f"on rank {finding.rank}")
    return " ".join(words)


def in_cell(finding: Finding) -> str:
    """`in line 2 of cell 3`, for whoever is shown the file of a notebook rather than its cells."""
    place = finding.place
    cell = None if place is None else split_name(place.path)[1]
    return "" if place is None or cell is None else f"in line {place.line} of cell {cell}"


def value(fact: Value) -> str:
    if isinstance(fact, tuple):
        return ", ".join(map(_member, fact)) if fact else "()"
    if isinstance(fact, bool) or not isinstance(fact, int | float):
        return str(fact)
    return f"{fact:,}" if isinstance(fact, int) else f"{fact:,.6g}"


def _member(fact: Value) -> str:
    """Inside a list a comma already separates, so thousands go without."""
    if isinstance(fact, tuple):
        return f"({', '.join(map(_member, fact))})"
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def step_of(link: Link) -> str:
    """One link of the story on one line."""
    return sentence(link.what) if link.place is None else f"{where(link.place)}: {sentence(link.what)}"


def summary(findings: Iterable[Finding]) -> str:
    """`1 error, 0 warnings, 2 notes`"""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(
        f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}" for severity in get_args(Severity)
    )
