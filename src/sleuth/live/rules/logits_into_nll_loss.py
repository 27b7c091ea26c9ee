"""nll_loss over anything but log-probabilities."""

from __future__ import annotations

import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1
# The log-sum-exp of a row of log-probabilities is 0; log-probabilities with a weight or a constant are still close.
FAR = 0.1


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.function != "nll_loss" or math.isnan(loss.row_log_sum) or loss.row_log_sum < FAR:
            continue
        if loss.made_by == "log_softmax":
            continue
        probabilities = loss.row_sum_error < 1e-3 and loss.input_low >= 0
        what = "probabilities" if probabilities else "raw scores"
        return handbook.finding(
            "logits-into-nll-loss",
            title=f"nll_loss was given {what} instead of log-probabilities",
            place=loss.place,
            step=run.looks[0].step,
            evidence=(
                Evidence("input minimum", loss.input_low),
                Evidence("input maximum", loss.input_high),
                Evidence("largest log-sum-exp of a row (0 for log-probabilities)", loss.row_log_sum),
            ),
            chain=(
                Link(f"{loss.made_by or 'the model'} gives {what}", loss.made_at),
                Link("nll_loss only picks the entry of the right class and flips its sign", loss.place),
            ),
            fixes=(
                Fix("use cross_entropy on the raw scores"),
                Fix("or apply log_softmax before nll_loss" + (" instead of softmax" if probabilities else "")),
            ),
        )
    return None
