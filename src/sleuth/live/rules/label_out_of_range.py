"""Labels that the loss function has no class, or no probability, for."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    crash = run.crash
    if (
        crash is not None
        and crash.kind == "IndexError"
        and "Target" in crash.message
        and "out of bounds" in crash.message
    ):
        label = crash.message.removeprefix("Target ").split(" ")[0]
        return handbook.finding(
            "label-out-of-range",
            place=crash.place,
            step=run.step,
            evidence=(Evidence("label", label),),
            chain=(Link(f"the label {label} is not below the number of the model's outputs", crash.place),),
            fixes=(
                Fix("number the classes from 0; with labels 1 to K subtract 1"),
                Fix("or give the last layer an output for each class"),
            ),
        )
    for loss in run.training_losses:
        if loss.function != "binary_cross_entropy_with_logits":
            continue
        if loss.target_low < 0 or loss.target_high > 1:
            return handbook.finding(
                "label-out-of-range",
                place=loss.place,
                step=run.looks[0].step,
                evidence=(Evidence("target minimum", loss.target_low), Evidence("target maximum", loss.target_high)),
                chain=(
                    Link(f"the labels go from {loss.target_low:.4g} to {loss.target_high:.4g}", loss.place),
                    Link("outside [0, 1] this loss has no minimum: it falls for ever as the scores grow"),
                ),
                fixes=(Fix("map the labels to 0 and 1"),),
            )
    return None
