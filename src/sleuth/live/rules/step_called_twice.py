"""One optimiser steps twice on the same gradients."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    fact = run.facts.first("gradients used twice")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "step-called-twice",
        place=fact.place,
        step=fact.first_step,
        evidence=(Evidence("steps on used gradients", fact.times),),
        chain=(Link("this step uses gradients that a step before it has used already", fact.place),),
        fixes=(Fix("step once after each backward pass"),),
    )
