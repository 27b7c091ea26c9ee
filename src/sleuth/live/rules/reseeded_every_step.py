"""The random seed set to the same value in every round of the loop."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 8


def look(run: Run) -> Finding | None:
    fact = run.facts.first("seeded")
    if fact is None or fact.times < TIMES or fact.last_step - fact.first_step + 1 > 1.25 * fact.times:
        return None
    return handbook.finding(
        "reseeded-every-step",
        place=fact.place,
        step=fact.first_step,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("times seeded with the same value", fact.times),),
        chain=(Link("every round starts from the same random state: the same samples, the same dropout", fact.place),),
        fixes=(Fix("seed once, at the start of the program"),),
    )
