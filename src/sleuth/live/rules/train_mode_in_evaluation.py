"""An evaluation in which dropout or BatchNorm still runs in training mode."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 1


def look(run: Run) -> Finding | None:
    fact = run.facts.first("evaluated in training mode")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "train-mode-in-evaluation",
        place=fact.place,
        step=fact.first_step,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("layer in training mode", fact.numbers["layer"]),),
        chain=(
            Link("gradients are off and the result is measured: an evaluation", fact.place),
            Link(f"the model is in training mode, so {fact.numbers['layer']} behaves as in training"),
        ),
        fixes=(Fix("call model.eval() before evaluating, and model.train() afterwards"),),
    )
