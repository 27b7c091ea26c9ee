"""Binary cross-entropy with logits over probabilities: it takes the sigmoid itself."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.function == "binary_cross_entropy_with_logits" and loss.made_by in ("sigmoid", "softmax"):
            return handbook.finding(
                "sigmoid-before-bce-with-logits",
                place=loss.made_at,
                step=run.looks[0].step,
                evidence=(Evidence("input minimum", loss.input_low), Evidence("input maximum", loss.input_high)),
                chain=(
                    Link(f"{loss.made_by} turns the scores into probabilities", loss.made_at),
                    Link("binary_cross_entropy_with_logits takes a sigmoid of those once more", loss.place),
                ),
                fixes=(Fix("give it the raw scores"), Fix("or use binary_cross_entropy on the probabilities")),
            )
    return None
