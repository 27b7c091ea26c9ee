"""An optimiser built anew in the loop: its momentum, or Adam's averages, start from nothing each time."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
PER_STEP, PER_EPOCH = 3, 3


def look(run: Run) -> Finding | None:
    fact = run.facts.first("optimizer rebuilt")
    if fact is None or not fact.numbers["stateful"] or fact.times < PER_STEP:
        return None
    every_step = fact.numbers["steps_between"] <= 1
    return handbook.finding(
        "optimizer-recreated",
        place=fact.place,
        step=fact.first_step,
        certainty="certain" if every_step else "likely",
        severity="error" if every_step else "warning",
        evidence=(
            Evidence("times built anew", fact.times),
            Evidence("most steps in between", fact.numbers["steps_between"]),
        ),
        chain=(
            Link(f"a new {fact.numbers['kind']} over the same parameters is built here, again and again", fact.place),
            Link("what the one before had learnt about the gradients is lost"),
        ),
        fixes=(
            Fix("build the optimiser once, before the loop"),
            Fix("to change the learning rate, use a scheduler or set it in optimizer.param_groups"),
        ),
    )
