"""Regression targets so far from 0 that the model spends its time getting there."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.1
# Outputs start around 0 with a spread below 1.
LARGE = 50.0
SHARE = 0.5


def look(run: Run) -> Finding | None:
    loss, chance = run.supervised, run.chance
    if loss is None or chance is None or loss.function != "mse_loss" or not run.mature:
        return None
    size = (loss.target_mean**2 + loss.target_variance) ** 0.5
    if size < LARGE or run.recent < SHARE * chance:
        return None
    return handbook.finding(
        "unnormalised-targets",
        place=loss.place,
        step=run.looks[0].step,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("target mean", loss.target_mean),
            Evidence("target standard deviation", loss.target_variance**0.5),
            Evidence("loss", run.recent),
            Evidence("variance of the targets", chance),
        ),
        chain=(
            Link(f"the targets are around {loss.target_mean:.4g}, the model's outputs start around 0", loss.place),
            Link(
                f"after {run.loss.count:,} steps the loss is {run.recent:.4g}; "
                f"always answering the mean costs {chance:.4g}"
            ),
        ),
        fixes=(Fix("standardise the targets, and scale the predictions back"),),
    )
