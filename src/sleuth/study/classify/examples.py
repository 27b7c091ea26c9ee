"""The posts to learn from: labels and texts put together, several raters' labels made one, and how far they agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from sleuth.study.classify.texts import batches_of
from sleuth.study.label.coefficients import Estimate, cohen
from sleuth.study.label.store import Label

# The name that tables of published labels give to what the raters settled on.
FINAL = "final"


class NoExamples(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Ceiling:
    """How well one rater predicts another: no classifier can be shown to be better."""

    raters: tuple[str, str]
    kappa: Estimate
    agreement: float
    macro_f1: float


@dataclass(frozen=True)
class Examples:
    """Posts with one label each. `weights`: how many posts of the population each stands for."""

    codebook: str
    keys: tuple[str, ...]
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    weights: tuple[float, ...]
    strata: tuple[str, ...]
    ceiling: Ceiling | None
    # Labelled posts of which no text was found; posts whose raters are evenly split.
    without_text: int
    ties: int

    def __len__(self) -> int:
        return len(self.keys)


def gather(
    labels: Iterable[Label],
    texts: str | Path,
    *,
    codebook: str | None = None,
    rater: str | None = None,
    sample: Mapping[str, tuple[float, str]] | None = None,
) -> Examples:
    """One label a post: that rater's, or the settled one, or what most raters say. `sample`: key → weight, stratum.

    Of evenly split raters the one who comes first by name decides: posts on which people differ are the hard ones, and
    a score without them would flatter. Raises NoExamples."""
    every = list(labels)
    said = _by_post(every, codebook, rater)
    settled = {key: _settle(by_rater) for key, by_rater in said.items()}
    found = {key: text for batch in batches_of(texts, set(said)) for key, text in batch if text}
    keys = [key for key in sorted(settled) if key in found and (sample is None or key in sample)]
    if not keys:
        raise NoExamples(f"none of the {len(said)} labelled posts has a text in {texts}")
    placed = sample or {}
    return Examples(
        codebook=codebook or every[0].codebook,
        keys=tuple(keys),
        texts=tuple(found[key] for key in keys),
        labels=tuple(settled[key][0] for key in keys),
        weights=tuple(placed.get(key, (1.0, ""))[0] for key in keys),
        strata=tuple(placed.get(key, (1.0, ""))[1] for key in keys),
        ceiling=ceiling([said[key] for key in keys]),
        without_text=sum(1 for key in settled if key not in found),
        ties=sum(settled[key][1] for key in keys),
    )


def ceiling(said: Sequence[Mapping[str, str]]) -> Ceiling | None:
    """Of the two raters who share the most posts; None if no two share any."""
    pairs = Counter((first, second) for by_rater in said for first in by_rater for second in by_rater if first < second)
    if not pairs:
        return None
    (first, second), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
    shared = [(by_rater[first], by_rater[second]) for by_rater in said if first in by_rater and second in by_rater]
    names = sorted({label for pair in shared for label in pair})
    numbers = {name: number for number, name in enumerate(names)}
    return Ceiling(
        raters=(first, second),
        kappa=cohen([(numbers[one], numbers[other]) for one, other in shared]),
        agreement=float(np.mean([one == other for one, other in shared])),
        macro_f1=float(f1_score(*zip(*shared, strict=True), average="macro", zero_division=0)),
    )


def _by_post(labels: Sequence[Label], codebook: str | None, rater: str | None) -> dict[str, dict[str, str]]:
    codebooks = sorted({label.codebook for label in labels})
    if codebook is None and len(codebooks) > 1:
        raise NoExamples(f"there are labels of several codebooks, choose one: {', '.join(codebooks)}")
    if codebook is not None and codebook not in codebooks:
        raise NoExamples(f"there are no labels of {codebook!r}, only of {', '.join(codebooks) or 'nothing'}")
    raters = sorted({label.rater for label in labels})
    if rater is not None and rater not in raters:
        raise NoExamples(f"there is no rater {rater!r}, only {', '.join(raters)}")
    said: dict[str, dict[str, str]] = defaultdict(dict)
    # A later round replaces an earlier one.
    for label in sorted(labels, key=lambda label: label.round):
        if (codebook is None or label.codebook == codebook) and rater in (None, label.rater) and label.label:
            said[label.key][label.rater] = label.label
    if not said:
        raise NoExamples("there are no labels")
    return dict(said)


def _settle(by_rater: Mapping[str, str]) -> tuple[str, bool]:
    """The label that counts, and whether the raters are evenly split."""
    if FINAL in by_rater:
        return by_rater[FINAL], False
    votes = Counter(by_rater.values())
    most = max(votes.values())
    leading = {label for label, count in votes.items() if count == most}
    first = next(by_rater[name] for name in sorted(by_rater) if by_rater[name] in leading)
    return first, len(leading) > 1
