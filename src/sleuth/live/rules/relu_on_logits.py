"""ReLU on a classifier's scores: no class can be said to be unlikely."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.function in ("cross_entropy", "binary_cross_entropy_with_logits") and loss.made_by in ("relu", "relu6"):
            if not loss.is_root:
                continue
            return handbook.finding(
                "relu-on-logits",
                place=loss.made_at,
                step=run.looks[0].step,
                certainty="likely",
                severity="warning",
                evidence=(Evidence("input minimum", loss.input_low),),
                chain=(
                    Link("ReLU cuts off every negative score", loss.made_at),
                    Link(
                        "the loss function needs scores of both signs, and a cut-off score gets no gradient", loss.place
                    ),
                ),
                fixes=(Fix("leave the last layer linear"),),
            )
    return None
