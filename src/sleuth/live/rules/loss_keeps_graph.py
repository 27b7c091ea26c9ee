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
        evidence=(Evidence("kept by", name or "not found among the program's variables"),),
        chain=(
            Link("each step's loss is differentiated", run.backward_place),
            Link(f"{name or 'something'} keeps it, and the whole graph behind it, alive", fact.place),
        ),
        # Where the keeper is not known, neither is what it keeps: the loss, or what was computed from it.
        fixes=(Fix(f"put numbers into {name}, not tensors with their graphs: .item(), or .detach()"),) if name else (),
    )
