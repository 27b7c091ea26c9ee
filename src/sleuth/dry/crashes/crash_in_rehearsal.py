"""A crash that nothing more is known of."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

FALLBACK = True
_LONGEST_TITLE = 160


def explain(crash: Crash) -> Finding:
    births = crash.call.births if crash.call is not None else ()
    first = crash.words.splitlines()[0]
    title = first if len(first) <= _LONGEST_TITLE else f"{first[:_LONGEST_TITLE]}…"
    return told(
        "crash-in-rehearsal",
        crash,
        title=f"it would crash: {title}",
        chain=_history.of_shapes(births[0]) if births else (),
    )
