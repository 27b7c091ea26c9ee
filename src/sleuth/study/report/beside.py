"""A number beside the paper's own, as the page and the Markdown write it: with the same digits on both sides."""

from __future__ import annotations

from sleuth.study.report.content import Tally
from sleuth.study.report.numbers import MISSING, count, digits_of, places_for, said, signed
from sleuth.study.result import Comparison

# Beyond a paper's rounding, one more digit shows which way it was rounded.
_MORE = 1


def published(comparison: Comparison) -> str:
    """`639`; `> 66` where the paper says only that."""
    above = comparison.bound == "above"
    return ("> " if above else "") + said(comparison.published, places=places_for([comparison.published]))


def ours(comparison: Comparison) -> str:
    return MISSING if comparison.ours is None else said(comparison.ours, places=_places(comparison))


def difference(comparison: Comparison) -> str:
    value = comparison.difference
    if value is None:
        return MISSING
    # 0.30000000000000004 - 0.3 is nothing.
    return signed(0 if abs(value) < 1e-9 else value, _places(comparison))


def told(counted: Tally) -> str:
    """`12 of 14 as published, 1 differs, 1 not computed`."""
    parts = [f"{counted.same:,} of {counted.total:,} as published"]
    parts += [count(counted.differ, "differs", "differ")] if counted.differ else []
    parts += [f"{counted.unknown:,} not computed"] if counted.unknown else []
    return ", ".join(parts)


def _places(comparison: Comparison) -> int:
    if comparison.ours is None or float(comparison.ours).is_integer():
        return places_for([comparison.published])
    return min(digits_of(comparison.ours), places_for([comparison.published]) + _MORE)
