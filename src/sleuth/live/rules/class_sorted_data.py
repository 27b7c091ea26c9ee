"""Batches of one class each, in the order of a sorted data set."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.0
BATCHES = 6
SHARE = 0.8


def look(run: Run) -> Finding | None:
    if run.batches_seen < BATCHES or run.classes_seen < 2 or run.shuffled:
        return None
    if run.batches_of_one_class < SHARE * run.batches_seen:
        return None
    return handbook.finding(
        "class-sorted-data",
        place=run.loader_made,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("batches seen", run.batches_seen),
            Evidence("of these with a single class", run.batches_of_one_class),
            Evidence("classes", run.classes_seen),
        ),
        chain=(
            Link("the loader deals the data in their own order", run.loader_made),
            Link(
                f"{run.batches_of_one_class} of {run.batches_seen} batches hold one class: each step unlearns the last"
            ),
        ),
        fixes=(Fix("DataLoader(..., shuffle=True)"),),
    )
