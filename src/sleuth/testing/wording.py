"""How an oracle says that it does not hold: the verdict in one line, why, and what to change."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence

from sleuth import report
from sleuth.findings import Finding, Place, Report

_WIDTH = 100
_SHOWN_STEPS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MOST_NAMES = 12


def message(verdict: str, why: Iterable[str] = (), change: Iterable[str] = ()) -> str:
    parts = [verdict, *(block for block in why if block)]
    advice = list(change)
    if advice:
        parts.append("\n".join(["What to change", *(_item(line) for line in advice)]))
    return "\n\n".join(parts)


def _item(line: str) -> str:
    return textwrap.fill(line, _WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def items(lines: Iterable[str]) -> str:
    return "\n".join(_item(line) for line in lines)


def told(findings: Collection[Finding]) -> str:
    """What the live engine found, as it would say it."""
    return report.render(Report("test", "<test>", tuple(findings)), "terminal", width=_WIDTH)


def at(place: Place | None) -> str:
    """` (model.py:31: torch.softmax(x, dim=0))`, or nothing."""
    if place is None:
        return ""
    code = f": {textwrap.shorten(place.code, 80)}" if place.code else ""
    return f" ({place.path}:{place.line}{code})"


def curve(losses: Sequence[float]) -> str:
    """A loss curve in numbers."""
    last = len(losses) - 1
    steps = [step for step in _SHOWN_STEPS if step < last] + [last]
    return "loss by step: " + ", ".join(f"{step}: {losses[step]:.4g}" for step in steps)


def listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
