"""Labels that the loss function has no class, or no probability, for."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import LossLook, Run

TIER = 1
# For these a class that is not there may also be no class at all, without an error.
BY_CLASS = ("cross_entropy", "cross_entropy_of_probabilities")


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
            title=crash.explanation.title if crash.explanation is not None else None,
            place=crash.place,
            step=run.step,
            evidence=(Evidence("label", label), *crash.evidence),
            chain=(Link(f"the label {label} is not below the number of the model's outputs", crash.place),),
            fixes=(
                Fix("number the classes from 0; with labels 1 to K subtract 1"),
                Fix("or give the last layer an output for each class"),
            ),
        )
    for loss in run.training_losses:
        classes = loss.input_shape[1] if len(loss.input_shape) == 2 else 0
        if loss.function in BY_CLASS and loss.target_kind == "class" and 1 < classes <= loss.target_high:
            return _no_such_class(run, loss, classes)
        if loss.function not in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
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


def _no_such_class(run: Run, loss: LossLook, classes: int) -> Finding:
    label = int(loss.target_high)
    return handbook.finding(
        "label-out-of-range",
        place=loss.place,
        step=run.looks[0].step,
        evidence=(Evidence("label", label), Evidence("outputs of the model", classes)),
        chain=(
            Link(f"the labels go from {int(loss.target_low)} to {label}", loss.place),
            Link(f"the model has {classes} outputs, for the classes 0 to {classes - 1}", loss.made_at),
        ),
        fixes=(
            Fix("number the classes from 0; with labels 1 to K subtract 1"),
            Fix("or give the last layer an output for each class"),
        ),
    )
