"""Cross-entropy over probabilities: it takes the softmax itself."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1
# Rows of probabilities add up to 1 as exactly as float32 can.
EXACT = 1e-3


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.function != "cross_entropy" or loss.made_by != "softmax" or loss.input_shape[1:2] == (1,):
            continue
        if loss.row_sum_error > EXACT:
            continue
        return handbook.finding(
            "softmax-before-cross-entropy",
            place=loss.made_at,
            step=run.looks[0].step,
            evidence=(
                Evidence("largest difference of a row's sum from 1", loss.row_sum_error),
                Evidence("loss", loss.value),
            ),
            chain=(
                Link("softmax turns the scores into probabilities", loss.made_at),
                Link("cross_entropy takes a softmax of those once more, so its gradients all but vanish", loss.place),
            ),
            fixes=(
                Fix("give cross_entropy the raw scores; apply softmax only to show probabilities"),
                Fix("or take log_softmax and nll_loss"),
            ),
        )
    return None
