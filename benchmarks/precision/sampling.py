"""Which findings are read: enough of every diagnosis to judge it, and more of those that speak often."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from precision.examination import Found

SEED = "2026"
SIZES = {"packages": 200, "projects": 150, "unseen": 150}
Strata = dict[str, list[Found]]


def strata(found: Iterable[Found]) -> Strata:
    """The findings by diagnosis, each diagnosis in an order of its own that looks random and never changes.

    The order hangs on nothing but the finding itself: when a check is mended, the findings that stay keep their places,
    so what was read before is read again and only what is new needs a reader."""
    by_diagnosis: Strata = defaultdict(list)
    for one in sorted(found, key=_rank):
        by_diagnosis[one.diagnosis].append(one)
    return dict(sorted(by_diagnosis.items()))


def sample(found: Iterable[Found], size: int) -> Strata:
    """The findings to read, by diagnosis."""
    whole = strata(found)
    shares = allocation({name: len(members) for name, members in whole.items()}, size)
    return {name: members[: shares[name]] for name, members in whole.items()}


def allocation(counts: dict[str, int], size: int) -> dict[str, int]:
    """How many of each stratum to take: half of the size in equal parts, the rest in proportion to what is left.

    Every stratum gets at least one, even where that is more than `size` in all."""
    equal = _evenly(counts, size // 2)
    left = {name: counts[name] - equal[name] for name in counts}
    rest = min(size - sum(equal.values()), sum(left.values()))
    if rest <= 0:
        return equal
    exact = {name: rest * left[name] / sum(left.values()) for name in counts}
    shares = {name: int(exact[name]) for name in counts}
    by_remainder = sorted(counts, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: rest - sum(shares.values())]:
        shares[name] += 1
    return {name: equal[name] + shares[name] for name in counts}


def _evenly(counts: dict[str, int], size: int) -> dict[str, int]:
    """One for each, then one more for each that has more, until the size is used up."""
    shares = {name: min(1, count) for name, count in counts.items()}
    while sum(shares.values()) < size:
        hungry = [name for name in counts if shares[name] < counts[name]]
        if not hungry:
            break
        for name in hungry[: size - sum(shares.values())]:
            shares[name] += 1
    return shares


def _rank(found: Found) -> str:
    return hashlib.sha256(f"{SEED} {found.id}".encode()).hexdigest()
