"""The posts that raters labelled differently, the most usual confusions first, for them to talk over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from sleuth.study.corpus import Corpus
from sleuth.study.label.agreement import Ratings
from sleuth.study.label.store import Label


@dataclass(frozen=True)
class Disagreement:
    """One post, and what each rater said of it."""

    key: str
    codebook: str
    round: int
    said: tuple[Label, ...]
    title: str = ""

    @property
    def between(self) -> tuple[str, ...]:
        """The labels that were given to it, in the order of the alphabet."""
        return tuple(sorted({label.label or "" for label in self.said}))


def disagreements(ratings: Ratings, titles: dict[str, str] | None = None) -> list[Disagreement]:
    """Every post with more than one label."""
    found = [
        Disagreement(
            key,
            ratings.codebook,
            ratings.round,
            tuple(by[rater] for rater in ratings.raters if rater in by),
            (titles or {}).get(key, ""),
        )
        for key, by in ratings.said.items()
        if len({label.label for label in by.values()}) > 1
    ]
    usual = Counter(post.between for post in found)
    return sorted(found, key=lambda post: (-usual[post.between], post.between, post.key))


def titles_of(corpus: Corpus, keys: Collection[str]) -> dict[str, str]:
    """What the posts of these keys are called."""
    import pyarrow.dataset as ds

    wanted = ds.field("key").isin(sorted(keys))
    table = ds.dataset(corpus.parts).to_table(columns=["key", "title"], filter=wanted)
    return {row["key"]: row["title"] or "" for row in table.to_pylist()}
