"""The step stands before the backward pass of its round, and the gradients it should use are erased by then."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("step without gradients"):
        if fact.numbers["kind"] == "erased" and fact.numbers["above"] and fact.times >= TIMES:
            return handbook.finding(
                "step-before-backward",
                place=fact.place,
                step=fact.first_step,
                evidence=(Evidence("steps without any gradient", fact.times),),
                chain=(
                    Link("the step runs first, when there are no gradients yet", fact.place),
                    Link("then the backward pass computes them", fact.places.get("backward")),
                    Link("and they are erased before the next step", fact.places.get("erased")),
                ),
                fixes=(Fix("order the round: zero_grad(), forward, backward(), step()"),),
            )
    return None
