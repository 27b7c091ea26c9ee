"""Gradients erased between the backward pass and the step that should use them."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("step without gradients"):
        erased = fact.places.get("erased")
        if (
            fact.numbers["kind"] == "erased"
            and not fact.numbers["above"]
            and fact.times >= TIMES
            and erased is not None
        ):
            return handbook.finding(
                "zero-grad-before-step",
                place=erased,
                step=fact.first_step,
                evidence=(Evidence("steps without any gradient", fact.times),),
                chain=(
                    Link("the backward pass computes the gradients", fact.places.get("backward")),
                    Link("they are erased before anything has used them", erased),
                    Link("the step finds only zeros and changes nothing", fact.place),
                ),
                fixes=(Fix("move zero_grad() before backward(), or after step()"),),
            )
    return None
