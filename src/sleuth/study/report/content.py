"""What a report says, before anybody has decided how it looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sleuth.study.result import Comparison, Result


@dataclass(frozen=True)
class Fact:
    """A name and what is known of it, both as text."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a selection: how many posts were left, and how many the paper had there.

    No `posts`: the paper's authors chose by hand, and nothing was computed."""

    name: str
    posts: int | None
    published: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Passage:
    """A part of the method: a heading, what is to be said, and facts."""

    title: str
    text: str = ""
    facts: tuple[Fact, ...] = ()
    # A table that belongs here: the codebook's definitions, the strata of the sample.
    table: Result | None = None
    # Shown as it is: the command, the preset.
    verbatim: str = ""
    # What raters were told, one after the other.
    rules: tuple[str, ...] = ()
    # Long, and for those who want to know: shown when it is opened.
    folded: bool = False


@dataclass(frozen=True)
class Threat:
    """Why a figure may be wrong, computed from this very corpus. `grave` ones can change a conclusion."""

    title: str
    text: str
    weight: Literal["grave", "minor"] = "minor"


@dataclass(frozen=True)
class NotRun:
    """An analysis that could not be run, and why."""

    name: str
    title: str
    why: str


@dataclass(frozen=True)
class Report:
    """Everything that is told, in the order it is told."""

    title: str
    subtitle: str
    made: str
    headline: tuple[Fact, ...] = ()
    funnel: tuple[Step, ...] = ()
    method: tuple[Passage, ...] = ()
    results: tuple[Result, ...] = ()
    threats: tuple[Threat, ...] = ()
    not_run: tuple[NotRun, ...] = ()

    @property
    def comparisons(self) -> list[tuple[Result, Comparison]]:
        """Every number beside a paper's own."""
        return [(result, comparison) for result in self.results for comparison in result.comparisons]


@dataclass(frozen=True)
class Tally:
    """How the comparisons came out."""

    same: int
    differ: int
    unknown: int

    @property
    def total(self) -> int:
        return self.same + self.differ + self.unknown


def tally(comparisons: Iterable[Comparison]) -> Tally:
    known = list(comparisons)
    unknown = sum(comparison.ours is None for comparison in known)
    same = sum(comparison.same for comparison in known)
    return Tally(same, len(known) - same - unknown, unknown)


Verdict = Literal["same", "differs", "not computed"]


def verdict(comparison: Comparison) -> Verdict:
    if comparison.ours is None:
        return "not computed"
    return "same" if comparison.same else "differs"
