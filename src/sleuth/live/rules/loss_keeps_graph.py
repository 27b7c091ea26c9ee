"""Something keeps every step's loss, and with it every step's graph."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0


def look(run: Run) -> Finding | None:
    fact = run.facts.first("graph kept")
    if fact is None or fact.place is None:
        return None
    name = fact.numbers["name"]
    return handbook.finding(
        "loss-keeps-graph",
        place=fact.place,
        step=fact.first_step,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("kept by", name or "a variable of the program"),),
        chain=(
            Link("each step's loss is differentiated", run.backward_place),
            Link(f"{name or 'a variable'} keeps it, and the whole graph behind it, alive", fact.place),
        ),
        fixes=(Fix("keep the number, not the tensor: loss.item(), or loss.detach()"),),
    )
