"""What a sample's weights would change: each label's share, with every post counted once and with its weight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sleuth.study.label.sample import Sample


@dataclass(frozen=True)
class Shift:
    """A label's share of the labelled sample, in percent."""

    scheme: str
    label: str
    unweighted: float
    weighted: float

    @property
    def size(self) -> float:
        return abs(self.weighted - self.unweighted)


def largest_shift(sample: Sample, settled: Iterable[tuple[str, str, str]]) -> Shift | None:
    """The label that weights would move most; None where none of the sample is labelled."""
    weight = {post.key: post.weight for post in sample.posts}
    counts: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    totals: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for key, scheme, label in settled:
        if key in weight:
            for cell in (counts[scheme, label], totals[scheme]):
                cell[0] += 1
                cell[1] += weight[key]
    shifts = [
        Shift(scheme, label, 100 * once / totals[scheme][0], 100 * weighted / totals[scheme][1])
        for (scheme, label), (once, weighted) in counts.items()
    ]
    return max(shifts, key=lambda shift: (shift.size, shift.label), default=None)


def are_unequal(sample: Sample) -> bool:
    weights = [post.weight for post in sample.posts]
    return bool(weights) and max(weights) > min(weights) * (1 + 1e-9)
