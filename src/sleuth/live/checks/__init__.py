"""One file a diagnosis of a non-finite number, named after it. Each has `check(birth) -> Verdict | None`.

A check that tells a special case of others names them in REFINES and is asked before them; a check marked FALLBACK is
asked after all that are not."""

from __future__ import annotations

import dataclasses
import sys
from functools import cache
from types import ModuleType

from sleuth import refinement
from sleuth.live.births import Birth, Verdict


@cache
def in_order() -> tuple[tuple[str, ModuleType], ...]:
    """All checks, each before those that it refines."""
    return refinement.in_order(sys.modules[__name__])


def verdict(birth: Birth) -> Verdict | None:
    """What the first check that knows this birth says of it."""
    for diagnosis, module in in_order():
        answer: Verdict | None = module.check(birth)
        if answer is not None:
            return dataclasses.replace(answer, diagnosis=diagnosis)
    return None
