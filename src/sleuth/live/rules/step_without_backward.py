"""An optimiser that steps although no backward pass ever gave it a gradient."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    if run.backwards:
        return None
    for fact in run.facts.all("step without gradients"):
        if fact.numbers["kind"] == "never" and fact.times >= TIMES:
            return handbook.finding(
                "step-without-backward",
                place=fact.place,
                step=fact.first_step,
                evidence=(Evidence("steps", fact.times), Evidence("backward passes", 0)),
                chain=(Link("the step finds no gradient, so it changes nothing", fact.place),),
                fixes=(Fix("call loss.backward() before optimizer.step()"),),
            )
    return None
