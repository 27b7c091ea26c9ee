"""Half-precision weights whose updates are smaller than the gap to the next number."""

from __future__ import annotations

import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 3
LOOKS = 3
# Nearly every weight stays what it was, step after step.
UNCHANGED = 0.8


def look(run: Run) -> Finding | None:
    shares = []
    for one in run.looks:
        half = [w for w in one.weights if w.half and w.unchanged is not None and w.gradient_norm]
        if half:
            sizes = [math.prod(w.shape) for w in half]
            shares.append(sum(n * (w.unchanged or 0.0) for n, w in zip(sizes, half, strict=True)) / sum(sizes))
    if len(shares) < LOOKS or min(shares) < UNCHANGED or not run.optimizers or not run.optimizers[0].rate:
        return None
    held = run.optimizers[0]
    return handbook.finding(
        "update-lost-in-rounding",
        place=held.made,
        step=run.looks[0].step,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("weights left unchanged by a step", round(min(shares), 3)), Evidence("lr", held.rate)),
        chain=(
            Link("the weights are kept in half precision"),
            Link(f"an update with lr = {held.rate:g} is less than half the gap to the next number there", held.made),
        ),
        fixes=(Fix("keep the weights in float32 and compute in half precision: torch.autocast"),),
    )
