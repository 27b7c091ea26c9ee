"""kl_div over probabilities: its first argument is to be log-probabilities."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1
EXACT = 1e-3


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if (
            loss.function == "kl_div"
            and loss.input_low >= 0
            and (loss.made_by == "softmax" or loss.row_sum_error < EXACT)
        ):
            return handbook.finding(
                "probabilities-into-kl-div",
                place=loss.place,
                step=run.looks[0].step,
                evidence=(Evidence("input minimum", loss.input_low), Evidence("input maximum", loss.input_high)),
                chain=(
                    Link(f"{loss.made_by or 'the model'} gives probabilities", loss.made_at),
                    Link("kl_div takes log-probabilities as its input; these are all at least 0", loss.place),
                ),
                fixes=(Fix("give it log_softmax(scores) as the input, and probabilities as the target"),),
            )
    return None
