"""Cross-entropy with targets that are no probabilities: a regression in a classifier's clothes."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.function != "cross_entropy" or loss.target_kind != "probability":
            continue
        in_range = loss.target_low >= 0 and loss.target_high <= 1
        if loss.target_rows_sum_to_one or (in_range and loss.target_shape[1:2] != (1,)):
            continue
        return handbook.finding(
            "cross-entropy-for-regression",
            place=loss.place,
            step=run.looks[0].step,
            evidence=(
                Evidence("target minimum", loss.target_low),
                Evidence("target maximum", loss.target_high),
                Evidence("target shape", loss.target_shape),
            ),
            chain=(
                Link("with targets of a floating-point type, cross_entropy takes each row as class probabilities"),
                Link(
                    f"these go from {loss.target_low:.4g} to {loss.target_high:.4g} and do not add up to 1", loss.place
                ),
            ),
            fixes=(
                Fix("for a regression use MSELoss, L1Loss or SmoothL1Loss"),
                Fix("for classes give the class numbers as an int64 tensor of shape (N,)"),
            ),
        )
    return None
