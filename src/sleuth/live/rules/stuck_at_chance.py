"""A loss that stays where a model that ignores its input would have it."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.2


def look(run: Run) -> Finding | None:
    loss, chance = run.supervised, run.chance
    if loss is None or chance is None or not run.at_chance:
        return None
    late = run.loss.part(0.6, 1.0)
    return handbook.finding(
        "stuck-at-chance",
        place=loss.place,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("loss", late),
            Evidence("loss of answering blindly", chance),
            Evidence("spread of the outputs from sample to sample", loss.extra["input_spread_over_batch"]),
        ),
        chain=(
            Link(f"answering every sample with the labels' distribution costs {chance:.4g}"),
            Link(
                f"after {run.loss.count:,} steps the loss is {late:.4g}: the model does not use its input", loss.place
            ),
        ),
        fixes=(
            Fix("train on one batch alone: if that fails, the model or the loss is wrong; if it works, the data are"),
            Fix("print a few outputs: if they are all the same, look at activations and inputs"),
        ),
    )
