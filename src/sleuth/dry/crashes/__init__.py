"""One file a way of crashing, named after its diagnosis. Each has `explain(crash) -> Finding | None`.

One that tells a special case of others names their modules in REFINES and is asked before them; one marked FALLBACK is
asked after all that are not."""

from __future__ import annotations

import sys
import traceback
from functools import cache
from types import ModuleType

from sleuth import refinement
from sleuth.dry.crash import Crash
from sleuth.dry.crashes._left_out import is_of_rounds_left_out
from sleuth.dry.crashes._outside import is_outside
from sleuth.findings import Finding

__all__ = ["UNKNOWN", "explained", "in_order", "is_of_rounds_left_out", "is_outside"]

# What a crash is called that nothing more is known of.
UNKNOWN = "crash-in-rehearsal"


@cache
def in_order() -> tuple[tuple[str, ModuleType], ...]:
    """All of them, each before those that it refines."""
    return refinement.in_order(sys.modules[__name__])


def explained(crash: Crash) -> Finding | None:
    """What the first that knows this crash says of it; None where it lies outside of the program."""
    from sleuth.dry import frameworks
    from sleuth.dry.crashes import _certainty

    if is_outside(crash.error):
        return None
    known = frameworks.explain(crash)
    if known is not None:
        return known
    for _, module in in_order():
        if getattr(module, "FALLBACK", False) and is_of_rounds_left_out(crash):
            return None
        finding = _asked(module, crash)
        if finding is not None:
            return _certainty.tempered(finding, crash)
    return None


def _asked(module: ModuleType, crash: Crash) -> Finding | None:
    """What this one says. A fault of ours is noted, and the next is asked: the crash itself must not get lost."""
    try:
        finding: Finding | None = module.explain(crash)
    except Exception:
        crash.stage.journal.write("trouble", what=traceback.format_exc(limit=-6))
        return None
    return finding
