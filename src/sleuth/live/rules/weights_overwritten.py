"""The weights the run started with are put back again and again."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2


def look(run: Run) -> Finding | None:
    fact = run.facts.first("first weights loaded")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "weights-overwritten",
        place=fact.place,
        step=fact.first_step,
        evidence=(Evidence("times put back", fact.times),),
        chain=(
            Link("the optimiser trains the weights"),
            Link("this puts back, bit for bit, the weights the run started with", fact.place),
        ),
        fixes=(
            Fix("load the starting weights once, before the loop"),
            Fix("to keep the best weights, store a copy: copy.deepcopy(model.state_dict()), not the live tensors"),
        ),
    )
