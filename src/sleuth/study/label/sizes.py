"""How many posts must be read: the sample size for a margin of error, and how it is dealt out over strata."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

CONFIDENCE = 0.95
MARGIN = 0.05
# The share that needs the largest sample: whatever the true one is, this many are enough.
_WORST_SHARE = 0.5


class BadSize(Exception):
    """`str()` of it is the one line to show."""


def sample_size(population: int, confidence: float = CONFIDENCE, margin: float = MARGIN) -> int:
    """How many to draw of that many, to know any share to within the margin (Cochran, finite population).

    Rounded to the nearest whole number, as published tables and the four studies do: 384, not 385, of very many."""
    _check(confidence, margin)
    if population <= 0:
        return 0
    endless = _z(confidence) ** 2 * _WORST_SHARE * (1 - _WORST_SHARE) / margin**2
    return max(1, min(population, math.floor(endless / (1 + (endless - 1) / population) + 0.5)))


def margin_of(size: int, population: int, confidence: float = CONFIDENCE) -> float:
    """How far, at worst, a share in a random sample of that size is from the one in the population."""
    if size >= population:
        return 0.0
    spread = math.sqrt(_WORST_SHARE * (1 - _WORST_SHARE) / size)
    return _z(confidence) * spread * math.sqrt((population - size) / (population - 1))


def proportional(size: int, populations: Mapping[str, int]) -> dict[str, int]:
    """To each stratum its share of the sample, by largest remainders; one at least, where the size allows."""
    total = sum(populations.values())
    size = min(size, total)
    if total == 0:
        return dict.fromkeys(populations, 0)
    exact = {name: size * count / total for name, count in populations.items()}
    dealt = {name: math.floor(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (dealt[name] - exact[name], name))
    for name in by_remainder[: size - sum(dealt.values())]:
        dealt[name] += 1
    if size >= sum(count > 0 for count in populations.values()):
        _one_at_least(dealt, populations)
    return dealt


def _one_at_least(dealt: dict[str, int], populations: Mapping[str, int]) -> None:
    """A stratum without a post cannot be weighted back: the largest give theirs."""
    for name, count in populations.items():
        if count > 0 and dealt[name] == 0:
            dealt[max(dealt, key=lambda other: (dealt[other], other))] -= 1
            dealt[name] = 1


def equal(size: int, populations: Mapping[str, int]) -> dict[str, int]:
    """To each stratum as many as to any other; what a small one cannot give is dealt to the rest."""
    dealt = {}
    left = min(size, sum(populations.values()))
    smallest_first = sorted(populations, key=lambda name: (populations[name], name))
    for position, name in enumerate(smallest_first):
        dealt[name] = min(populations[name], left // (len(populations) - position))
        left -= dealt[name]
    return dealt


def given(sizes: Mapping[str, int], populations: Mapping[str, int]) -> dict[str, int]:
    """The sizes as they were asked for. Raises BadSize where a stratum is not there, or too small."""
    for name, size in sizes.items():
        if name not in populations:
            known = ", ".join(sorted(populations)[:12])
            raise BadSize(f"there is no stratum {name!r}; there are {known}")
        if size > populations[name]:
            raise BadSize(f"the stratum {name!r} has {populations[name]:,} posts, fewer than {size:,}")
    return {name: sizes.get(name, 0) for name in populations}


def _check(confidence: float, margin: float) -> None:
    if not 0 < confidence < 1:
        raise BadSize(f"a confidence lies between 0 and 1, as 0.95 does; not {confidence:g}")
    if not 0 < margin < 1:
        raise BadSize(f"a margin lies between 0 and 1, as 0.05 does; not {margin:g}")


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)
