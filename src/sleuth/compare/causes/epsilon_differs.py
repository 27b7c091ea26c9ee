"""A normalisation layer with another epsilon: each library has its own default."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from sleuth.compare.causes import Judge, Proposal, Target
from sleuth.compare.causes._arguments import NORMS, argument, is_number
from sleuth.compare.reference import Call, Override
from sleuth.compare.scores import LIMIT

# `add` is the epsilon of a normalisation that is written out.
OPS = NORMS | {"add"}
_USUAL = (1e-3, 1e-5, 1e-6, 1e-12, 1e-8, 1e-7, 1e-4, 1e-2)
_LARGEST = 1e-2
# The steps of a golden section: a few show whether it leads anywhere, the rest find it as exactly as float32 can tell.
_FIRST, _THEN = 8, 32
_GOLDEN = (math.sqrt(5) - 1) / 2


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    name = "other" if call.op == "add" else "eps"
    own = argument(call, name)
    if call.op == "add" and not (is_number(own) and 0 < own <= _LARGEST):
        return
    own = 2.0**-23 if own is None else own  # RMSNorm's default: that of its numbers
    for epsilon in _USUAL:
        if not math.isclose(epsilon, own):
            yield _proposal(name, own, epsilon)
    if own != 0:
        yield _proposal(name, own, 0.0, rank=1)
    if target.judge is not None:
        yield from _searched(name, own, target.judge)


def _proposal(name: str, own: float, epsilon: float, rank: int = 0) -> Proposal:
    return Proposal(
        f"its epsilon is {epsilon:.3g}, not {own:.3g}",
        f"give the layer epsilon {own:.3g}, as the reference has",
        _with(name, epsilon),
        rank,
    )


def _with(name: str, epsilon: float) -> Override:
    return lambda call: call.again(**{name: epsilon})


def _searched(name: str, own: float, judge: Judge) -> Iterator[Proposal]:
    """Between the usual values, around the one that leaves least, for a layer with an epsilon of its own."""
    order = sorted({*_USUAL, own, 1e-1, 1.0} - {0.0})
    left = [judge(_with(name, epsilon)) for epsilon in order]
    best = left.index(min(left))
    if left[best] <= LIMIT:
        return
    section = _GoldenSection(name, judge, order[max(best - 1, 0)], order[min(best + 1, len(order) - 1)])
    section.narrow(_FIRST)
    if section.least < left[best] / 2:
        section.narrow(_THEN)
    if section.least <= LIMIT:
        yield _proposal(name, own, section.at, rank=1)


class _GoldenSection:
    """Where between two values the judge is content, in decades."""

    def __init__(self, name: str, judge: Judge, low: float, high: float) -> None:
        self._name = name
        self._asked = judge
        self._low, self._high = math.log(low), math.log(high)
        self._inner = [self._high - _GOLDEN * (self._high - self._low), self._low + _GOLDEN * (self._high - self._low)]
        self._values = [self._judge(place) for place in self._inner]

    def _judge(self, exponent: float) -> float:
        return self._asked(_with(self._name, math.exp(exponent)))

    @property
    def least(self) -> float:
        return min(self._values)

    @property
    def at(self) -> float:
        return math.exp(self._inner[self._values.index(self.least)])

    def narrow(self, steps: int) -> None:
        for _ in range(steps):
            (c, d), (at_c, at_d) = self._inner, self._values
            if at_c < at_d:
                self._high = d
                c, d = self._high - _GOLDEN * (self._high - self._low), c
                self._inner, self._values = [c, d], [self._judge(c), at_c]
            else:
                self._low = c
                c, d = d, self._low + _GOLDEN * (self._high - self._low)
                self._inner, self._values = [c, d], [at_d, self._judge(d)]
