"""A loss that takes probabilities, over scores that are none."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import LossLook, Run

TIER = 1
LOOKS = 2
# Rounding may lead a probability past its ends by this much.
SLACK = 1e-3
OF_PROBABILITIES = ("binary_cross_entropy", "cross_entropy_of_probabilities")


def look(run: Run) -> Finding | None:
    seen = [loss for loss in run.training_losses if loss.function in OF_PROBABILITIES and loss.made_by != "relu"]
    found = [loss for loss in seen if _is_no_probability(loss)]
    if len(found) < LOOKS or len(found) * 2 < len(seen):
        return None
    loss = found[0]
    squash = "sigmoid" if loss.function == "binary_cross_entropy" else "softmax"
    return handbook.finding(
        "from-logits-mismatch",
        title=f"the loss takes probabilities, and the last layer has no {squash}",
        place=loss.made_at or loss.place,
        step=run.looks[0].step,
        evidence=(Evidence("output minimum", loss.input_low), Evidence("output maximum", loss.input_high)),
        chain=(
            Link(f"the model's outputs go from {loss.input_low:.4g} to {loss.input_high:.4g}", loss.made_at),
            Link("the loss takes them for probabilities, and cuts off what is outside 0 to 1", loss.place),
            Link("an output that is cut off gets no gradient"),
        ),
        fixes=(
            Fix("tell the loss that it gets scores: from_logits=True"),
            Fix(f"or end the model in a {squash}"),
        ),
    )


def _is_no_probability(loss: LossLook) -> bool:
    if loss.function == "binary_cross_entropy":
        return loss.input_low < -SLACK or loss.input_high > 1 + SLACK
    # Rows are divided by their sums: positive numbers of any size will do.
    return loss.input_low < -SLACK
