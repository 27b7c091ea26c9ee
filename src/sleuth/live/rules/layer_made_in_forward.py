"""A layer with weights that is constructed anew in every forward pass, so it never learns."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2


def look(run: Run) -> Finding | None:
    orphans = {(f.place.path, f.place.line): f for f in run.facts.all("orphan") if f.place is not None}
    for fact in run.facts.all("layer made in forward"):
        orphan = orphans.get((fact.place.path, fact.place.line)) if fact.place is not None else None
        if orphan is None or fact.times < TIMES:
            continue
        return handbook.finding(
            "layer-made-in-forward",
            place=fact.place,
            step=fact.first_step,
            evidence=(Evidence("layer", orphan.numbers["type"]), Evidence("times made", fact.times)),
            chain=(
                Link(f"each forward pass makes a new {orphan.numbers['type']} with new random weights", fact.place),
                Link("no optimiser holds them, and the next pass throws them away"),
            ),
            fixes=(Fix("make the layer once, in __init__, and use it in forward"),),
        )
    return None
