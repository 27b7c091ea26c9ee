"""A loss that grows and grows, with no cause proven."""

from __future__ import annotations

import itertools

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.0
GROWTH = 5.0


def look(run: Run) -> Finding | None:
    if not run.mature or len(run.stepping) != 1:
        return None
    if not run.start > 0 or run.recent < GROWTH * run.start:
        return None
    parts = run.loss.means(5)
    if any(later < earlier for earlier, later in itertools.pairwise(parts)):
        return None
    return handbook.finding(
        "loss-diverges",
        place=run.backward_place,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("loss at first", run.start), Evidence("loss at last", run.recent)),
        chain=(
            Link(
                f"over {run.loss.count:,} steps the loss went from {run.start:.4g} to {run.recent:.4g}",
                run.backward_place,
            ),
        ),
        fixes=(Fix("lower the learning rate"), Fix("clip the gradients"), Fix("check the sign of the loss")),
    )
