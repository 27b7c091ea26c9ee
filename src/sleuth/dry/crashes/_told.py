"""A finding about a crash: always at the user's line, always with the error's own words."""

from __future__ import annotations

from collections.abc import Iterable

from sleuth import handbook
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _messages
from sleuth.findings import Evidence, Finding, Fix, Link, Place

# The first lines say what is wrong; what follows is advice for those who build torch.
_MOST_WORDS = 400


def told(
    diagnosis: str,
    crash: Crash,
    *,
    title: str | None = None,
    place: Place | None = None,
    evidence: Iterable[Evidence] = (),
    chain: Iterable[Link] = (),
    fixes: Iterable[Fix | None] = (),
) -> Finding:
    return handbook.finding(
        diagnosis,
        place=place or crash.place,
        title=title,
        evidence=[Evidence("error", shortened(crash.words)), *_on_the_cpu(crash), *evidence],
        chain=chain,
        fixes=[fix for fix in fixes if fix is not None],
    )


def _on_the_cpu(crash: Crash) -> list[Evidence]:
    """A card says no more than that an assertion failed; the CPU names it."""
    said = _messages.said(crash.error).removeprefix(str(crash.error)).strip()
    return [Evidence("on the CPU", shortened(said))] if said else []


def shortened(words: str) -> str:
    return words if len(words) <= _MOST_WORDS else words[:_MOST_WORDS].rsplit(" ", 1)[0] + " …"
