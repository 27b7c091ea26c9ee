"""Who labelled what, and how well they agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sleuth.study.label.agreement import SETTLED, Agreement, measure, rounds
from sleuth.study.label.coefficients import Bootstrap
from sleuth.study.label.store import Label


@dataclass(frozen=True)
class Rated:
    """The labels of one codebook: how many posts have one, and how many have them of two raters or more."""

    scheme: str
    posts: int
    labels: int
    raters: tuple[str, ...]
    rounds: int
    by_several: int
    settled: int

    @property
    def independent(self) -> tuple[str, ...]:
        """Whoever settles disagreements is no independent rater."""
        return tuple(rater for rater in self.raters if rater != SETTLED)


def rated(labels: Iterable[Label], schemes: Collection[str]) -> list[Rated]:
    """By codebook, those that were asked about."""
    sorted_out: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        if label.label is not None and _is_asked(label.codebook, schemes):
            sorted_out[label.codebook].append(label)
    return [_rated(scheme, sorted_out[scheme]) for scheme in sorted(sorted_out)]


def agreements(labels: Iterable[Label], schemes: Collection[str]) -> list[Agreement]:
    """Every round that two or more raters took part in."""
    asked = [label for label in labels if _is_asked(label.codebook, schemes)]
    return [measure(ratings, Bootstrap()) for ratings in rounds(asked) if len(ratings.raters) > 1]


def _is_asked(codebook: str, schemes: Collection[str]) -> bool:
    """Other people's labels go by the name of their data set: what `liu.phase` was read from is some `liu.…` too."""
    source = codebook.partition(".")[0] + "."
    return codebook in schemes or ("." in codebook and any(scheme.startswith(source) for scheme in schemes))


def _rated(scheme: str, labels: list[Label]) -> Rated:
    by_post: dict[str, set[str]] = defaultdict(set)
    for label in labels:
        by_post[label.key].add(label.rater)
    return Rated(
        scheme=scheme,
        posts=len(by_post),
        labels=len(labels),
        raters=tuple(sorted({label.rater for label in labels})),
        rounds=len({label.round for label in labels}),
        by_several=sum(len(raters - {SETTLED}) > 1 for raters in by_post.values()),
        settled=sum(SETTLED in raters for raters in by_post.values()),
    )
