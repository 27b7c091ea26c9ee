"""How well raters agree: every codebook and round by itself, overall, rater by rater and label by label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sleuth.study.label.coefficients import (
    Bootstrap,
    Estimate,
    Unit,
    cohen,
    fleiss,
    krippendorff,
    krippendorff_by_label,
    pairs_that_agree,
)
from sleuth.study.label.store import Label

# Whoever settles disagreements is no independent rater.
SETTLED = "final"


@dataclass(frozen=True)
class Ratings:
    """What was said in one round with one codebook: for every post, each rater's label."""

    codebook: str
    round: int
    raters: tuple[str, ...]
    said: dict[str, dict[str, Label]]

    def units(self, raters: Sequence[str] | None = None) -> list[Unit]:
        """The posts as numbers: one column a rater, one number a label (in the order of `labels`)."""
        number = {label: position for position, label in enumerate(self.labels)}
        return [
            [number[by[rater].label or ""] if rater in by else None for rater in raters or self.raters]
            for by in self.said.values()
        ]

    @property
    def labels(self) -> list[str]:
        return sorted({label.label or "" for by in self.said.values() for label in by.values()})


@dataclass(frozen=True)
class OfPair:
    """Two raters on the posts that both labelled."""

    raters: tuple[str, str]
    agree: float | None
    kappa: Estimate
    # (what the first said, what the second said) -> how often.
    confusion: dict[tuple[str, str], int]


@dataclass(frozen=True)
class OfLabel:
    """One label against all others together."""

    label: str
    # How often any rater gave it.
    given: int
    # Where one rater gave it, how often another of the same post did too.
    agree: float | None
    alpha: Estimate


@dataclass(frozen=True)
class Agreement:
    """One round of one codebook. Posts that only one rater saw are left out of everything."""

    codebook: str
    round: int
    raters: tuple[str, ...]
    posts: int
    agree: float | None
    # The share of pairs that agree if a second choice counts too; None where nobody gave any.
    agree_with_seconds: float | None
    cohen: Estimate | None
    fleiss: Estimate
    # The number of raters that Fleiss' kappa was computed for.
    fleiss_raters: int
    alpha: Estimate
    pairs: tuple[OfPair, ...]
    labels: tuple[OfLabel, ...]


def rounds(
    labels: Iterable[Label],
    codebook: str | None = None,
    raters: Sequence[str] = (),
    reading: Callable[[str], str] = str,
) -> list[Ratings]:
    """The labels by codebook and round: only posts that two or more raters saw.

    Of several labels by one rater the first counts. Settled labels are left out unless `raters` names them.
    `reading` is what a label counts as: the phase it lies in, say."""
    said: dict[tuple[str, int], dict[str, dict[str, Label]]] = defaultdict(lambda: defaultdict(dict))
    for label in labels:
        wanted = label.rater in raters if raters else label.rater != SETTLED
        if label.label is not None and wanted and (codebook is None or label.codebook == codebook):
            second = label.second and reading(label.second)
            read = replace(label, label=reading(label.label), second=second)
            said[label.codebook, label.round][label.key].setdefault(label.rater, read)
    found = []
    for (name, number), posts in sorted(said.items()):
        shared = {key: by for key, by in posts.items() if len(by) > 1}
        who = tuple(sorted({rater for by in shared.values() for rater in by}))
        found.append(Ratings(name, number, who, shared))
    return found


def measure(ratings: Ratings, bootstrap: Bootstrap | None = None) -> Agreement:
    """All coefficients of one round."""
    bootstrap = bootstrap or Bootstrap()
    units = ratings.units()
    number = _usual_number(units)
    equal = [unit for unit in units if _seen_by(unit) == number]
    pairs = tuple(_pair(ratings, pair, bootstrap.confidence) for pair in combinations(ratings.raters, 2))
    return Agreement(
        codebook=ratings.codebook,
        round=ratings.round,
        raters=ratings.raters,
        posts=len(units),
        agree=pairs_that_agree(units),
        agree_with_seconds=_with_seconds(ratings),
        cohen=pairs[0].kappa if len(pairs) == 1 else None,
        fleiss=fleiss(equal, bootstrap),
        fleiss_raters=number,
        alpha=krippendorff(units, bootstrap),
        pairs=tuple(pair for pair in pairs if pair.kappa.units),
        labels=tuple(_by_label(ratings, units, bootstrap)),
    )


def _seen_by(unit: Unit) -> int:
    return sum(label is not None for label in unit)


def _usual_number(units: Sequence[Unit]) -> int:
    """How many raters most posts have; the larger number where two are as common."""
    counts = Counter(_seen_by(unit) for unit in units)
    return max(counts, key=lambda number: (counts[number], number), default=0)


def _pair(ratings: Ratings, raters: tuple[str, str], confidence: float) -> OfPair:
    units = [unit for unit in ratings.units(raters) if None not in unit]
    names = ratings.labels
    confusion = Counter((names[first or 0], names[second or 0]) for first, second in units)
    return OfPair(raters, pairs_that_agree(units), cohen(units, confidence), dict(confusion))


def _with_seconds(ratings: Ratings) -> float | None:
    shared = total = 0
    any_second = False
    for by in ratings.said.values():
        for one, other in combinations(by.values(), 2):
            choices = [{label.label, label.second} - {None} for label in (one, other)]
            any_second |= len(choices[0]) + len(choices[1]) > 2
            shared += bool(choices[0] & choices[1])
            total += 1
    return shared / total if any_second and total else None


def _by_label(ratings: Ratings, units: Sequence[Unit], bootstrap: Bootstrap) -> Iterable[OfLabel]:
    given = Counter(label for unit in units for label in unit if label is not None)
    alphas = krippendorff_by_label(units, bootstrap)
    for number, (name, alpha) in enumerate(zip(ratings.labels, alphas, strict=True)):
        yield OfLabel(name, given[number], _where_given(units, number), alpha)


def _where_given(units: Sequence[Unit], number: int) -> float | None:
    """The specific agreement on a label: pairs that both gave it, twice, over how often either side of a pair did."""
    both = either = 0.0
    for unit in units:
        times = sum(label == number for label in unit)
        both += times * (times - 1)
        either += times * (_seen_by(unit) - 1)
    return both / either if either else None
