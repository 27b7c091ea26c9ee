"""A step that uses gradients to which those of the step before were added."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
# Once may be a warm-up; twice is the loop.
TIMES = 2


def look(run: Run) -> Finding | None:
    fact = run.facts.first("gradients carried over")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "missing-zero-grad",
        place=fact.place,
        step=fact.first_step,
        evidence=(Evidence("steps with old gradients in them", fact.times),),
        chain=(
            Link("the optimiser used these gradients", fact.places.get("step_line")),
            Link("nothing erased them, and this backward pass added its own on top", fact.place),
        ),
        fixes=(Fix("call optimizer.zero_grad() once before each backward pass (or after each step)"),),
    )
