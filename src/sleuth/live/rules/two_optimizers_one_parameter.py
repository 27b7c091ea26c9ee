"""Two optimisers that apply the same gradient to the same parameter."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    fact = run.facts.first("gradients used by two")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "two-optimizers-one-parameter",
        place=fact.place,
        step=fact.first_step,
        evidence=(Evidence("steps on gradients the other had used", fact.times),),
        chain=(
            Link("the first optimiser holds the parameter", fact.places.get("first")),
            Link("the second holds it too", fact.place),
            Link("both step on the same gradient", fact.places.get("step_line")),
        ),
        fixes=(Fix("give each parameter to one optimiser; for different rates use parameter groups"),),
    )
