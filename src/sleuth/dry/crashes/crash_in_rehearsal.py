"""A crash that nothing more is known of."""

from __future__ import annotations

from sleuth import handbook
from sleuth.dry.crash import Crash
from sleuth.findings import Evidence, Finding

FALLBACK = True


def explain(crash: Crash) -> Finding:
    return handbook.finding(
        "crash-in-rehearsal",
        place=crash.place,
        title=f"it would crash: {crash.words.splitlines()[0]}",
        evidence=[Evidence("error", crash.words)],
    )
