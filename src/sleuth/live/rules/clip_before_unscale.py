"""Gradients clipped while they are still multiplied by the GradScaler's scale."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2


def look(run: Run) -> Finding | None:
    fact = run.facts.first("clipped while scaled")
    if fact is None or fact.times < TIMES:
        return None
    scale = fact.numbers["scale"]
    return handbook.finding(
        "clip-before-unscale",
        place=fact.place,
        step=fact.first_step,
        evidence=(Evidence("scale", scale), Evidence("times", fact.times)),
        chain=(
            Link(f"the loss was multiplied by {scale:g}, so the gradients are that much too large"),
            Link(f"they are clipped as they are: in effect to 1/{scale:g} of the norm asked for", fact.place),
        ),
        fixes=(Fix("call scaler.unscale_(optimizer) before clipping"),),
    )
