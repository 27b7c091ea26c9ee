"""Gradients clipped after the step has used them."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2


def look(run: Run) -> Finding | None:
    fact = run.facts.first("clipped after step")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "clip-after-step",
        place=fact.place,
        step=fact.first_step,
        evidence=(Evidence("times clipped too late", fact.times),),
        chain=(Link("the step has used these gradients already; clipping them now has no effect", fact.place),),
        fixes=(Fix("clip between backward() and step()"),),
    )
