"""Which pages of the handbook a text speaks of, in other words than an error's: the page is named in what it says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from sleuth import handbook
from sleuth.triage.phrases import phrases
from sleuth.triage.prose import prose, sentences
from sleuth.triage.words import words

# What a page is called, and how people put it, say more than what it goes on to tell.
_NAME, _PHRASES = 4.0, 3.0
_SYMPTOM = "What you see"
_SECTIONS = {_SYMPTOM: 2.0, "Why": 1.0, "How Sleuth knows": 0.5, "How to fix": 0.5}
# How fast repetition stops to count, as in BM25. (Pages are of one length, so that plays no part.)
_SATURATION = 1.2
# Words far apart have little to do with each other: a text is read two sentences at a time.
_LONGEST_WINDOW = 40
_MOST_WINDOWS = 100
# So much of a name, a title or a phrase must stand in two sentences, so rare must its words be, and so much of the two
# sentences must be on the page. (Among 400 how-to questions, 2 were proposed a page with these.)
_LEAST_NAMED, _LEAST_SHARE = 0.6, 0.3
_LEAST_WEIGHT, _STRICT_WEIGHT = 5.5, 8.5
# To be denied, a page need not be called by its whole name: `the learning rate is not to blame`.
_LEAST_DENIED = 0.4
# A page about something left out says so in one of its names.
_OMISSION = re.compile(r"\b(?:forgot|missing|without|not|never|left)\b")
# The longer a text, the likelier such words meet by chance.
_PER_DOUBLING = 0.5
# What Sleuth says when it knows nothing better.
_NOT_BY_WORDS = frozenset(
    """broken-expectation crash-in-rehearsal exception-in-a-step hangs-in-rehearsal non-finite-loss
    unexplained-non-finite""".split()
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """`words` are those in common, the most telling first."""

    name: str
    score: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Index:
    """How pages are called (by word: which page, and which of its names), and how rare a word is among pages."""

    calls: dict[str, list[tuple[str, int]]]
    totals: dict[tuple[str, int], float]
    rarity: dict[str, float]
    rarest: float
    omissions: frozenset[tuple[str, int]]


def alike(text: str, strict: bool = False) -> list[Likeness]:
    """The pages that fit, the best first; mostly none. `strict` is for a text that complains of nothing."""
    windows = list(_windows(prose(text)))
    least = (_STRICT_WEIGHT if strict else _LEAST_WEIGHT) + _PER_DOUBLING * math.log2(max(1, len(windows)))
    best: dict[str, Likeness] = {}
    for window in windows:
        for page in _named(window, least):
            likeness = _likeness(page, window)
            if likeness is not None and (page not in best or likeness.score > best[page].score):
                best[page] = likeness
    return sorted(best.values(), key=lambda one: (-one.score, one.name))


def ruled_out(denied: tuple[str, ...], done: tuple[str, ...]) -> frozenset[str]:
    """The pages that a text speaks against: what it denies by name, and what it would be to omit what was done."""
    return frozenset(
        page
        for clauses, omitted in ((denied, False), (done, True))
        for clause in clauses
        for page in _spoken_of(frozenset(words(clause)), omitted)
    )


def _spoken_of(window: frozenset[str], omitted: bool) -> set[str]:
    """The pages whose name, or a phrase for them, has its weight in these words; only of omissions, or of all else."""
    index = _index()
    found: dict[tuple[str, int], float] = {}
    for word in window:
        for call in index.calls.get(word, ()):
            found[call] = found.get(call, 0.0) + index.rarity[word]
    return {
        call[0]
        for call, weight in found.items()
        if (call in index.omissions) == omitted
        and weight >= (_LEAST_DENIED if call[1] == 0 else _LEAST_NAMED) * index.totals[call]
    }


def _windows(text: str) -> Iterator[frozenset[str]]:
    found = [spoken for part in sentences(text) if (spoken := words(part))][:_MOST_WINDOWS]
    for one, other in zip(found, [*found[1:], []], strict=True) if found else ():
        yield frozenset((one + other)[:_LONGEST_WINDOW])


def _named(window: frozenset[str], least: float) -> set[str]:
    """The pages of which a name, a title or a phrase of several words stands in the window nearly whole."""
    index = _index()
    found: dict[tuple[str, int], list[float]] = {}
    for word in window:
        for call in index.calls.get(word, ()):
            found.setdefault(call, []).append(index.rarity[word])
    return {
        call[0]
        for call, weights in found.items()
        if len(weights) > 1 and sum(weights) >= max(least, _LEAST_NAMED * index.totals[call])
    }


def _likeness(page: str, window: frozenset[str]) -> Likeness | None:
    index = _index()
    weighed = _weighed(page)
    gains: dict[str, float] = {}
    shared = 0.0
    for word in window & weighed.keys():
        rarity = index.rarity.get(word, index.rarest)
        shared += rarity
        gains[word] = rarity * weighed[word] * (_SATURATION + 1) / (weighed[word] + _SATURATION)
    if shared < _LEAST_SHARE * sum(index.rarity.get(word, index.rarest) for word in window):
        return None
    return Likeness(page, sum(gains.values()), tuple(sorted(gains, key=lambda word: (-gains[word], word))))


@cache
def _index() -> _Index:
    """Made of names, titles, phrases and symptoms alone: reading all of every page takes longer than all the rest."""
    pages = [page for page in handbook.all_pages() if page.name not in _NOT_BY_WORDS]
    calls: dict[str, list[tuple[str, int]]] = {}
    spread: dict[str, int] = {}
    for page in pages:
        called = _called(page)
        for number, call in enumerate(called):
            for word in call:
                calls.setdefault(word, []).append((page.name, number))
        for word in frozenset(words(_symptom(page))).union(*called):
            spread[word] = spread.get(word, 0) + 1
    rarity = {word: math.log(1 + (len(pages) - on + 0.5) / (on + 0.5)) for word, on in spread.items()}
    totals: dict[tuple[str, int], float] = {}
    for word, places in calls.items():
        for place in places:
            totals[place] = totals.get(place, 0.0) + rarity[word]
    omissions = frozenset(
        (page.name, number) for page in pages for number, way in enumerate(_ways(page)) if _OMISSION.search(way)
    )
    return _Index(calls, totals, rarity, max(rarity.values(), default=0.0), omissions)


def _symptom(page: handbook.Page) -> str:
    return page.text.partition(f"## {_SYMPTOM}\n")[2].partition("\n## ")[0].partition("```")[0]


def _called(page: handbook.Page) -> list[frozenset[str]]:
    """The page's name, its title and every phrase for it, each as a set of words."""
    return [frozenset(words(way)) for way in _ways(page)]


def _ways(page: handbook.Page) -> list[str]:
    return [way.replace("-", " ") for way in (page.name, page.title, *phrases().get(page.name, ()))]


@cache
def _weighed(name: str) -> dict[str, float]:
    """Each word of a page with its weight."""
    page = handbook.page(name)
    weighed: dict[str, float] = {}
    for number, call in enumerate(_called(page)):
        for word in call:
            weighed[word] = weighed.get(word, 0.0) + (_NAME if number < 2 else _PHRASES)
    sections = page.sections
    for heading, weight in _SECTIONS.items():
        for word in words(sections.get(heading, "").partition("```")[0].replace("-", " ")):
            weighed[word] = weighed.get(word, 0.0) + weight
    return weighed
