"""A scheduler that steps before the optimiser has: the first value of the schedule is skipped."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("scheduler stepped"):
        at = fact.numbers["steps_at"]
        if not fact.numbers["before_first_step"] or fact.numbers["scaled"] or len(at) < 2 or at[-1] == 0:
            continue
        return handbook.finding(
            "scheduler-before-optimizer",
            place=fact.place,
            step=0,
            certainty="likely",
            severity="warning",
            evidence=(Evidence("scheduler", fact.numbers["kind"]), Evidence("optimiser steps done by then", 0)),
            chain=(
                Link("the scheduler was built", fact.places.get("made")),
                Link("it steps before the optimiser has used the first learning rate", fact.place),
            ),
            fixes=(Fix("call scheduler.step() after optimizer.step()"),),
        )
    return None
