"""A softmax over a single unit, which is 1 whatever goes in."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        single = loss.input_shape[1:2] == (1,) or len(loss.input_shape) == 1
        if loss.function == "cross_entropy" and loss.input_shape[1:2] == (1,) and loss.target_kind == "class":
            return _finding(run, loss.place, loss, "cross_entropy over one class is 0 whatever the model says")
        if loss.made_by == "softmax" and single and loss.input_low == loss.input_high == 1.0:
            return _finding(run, loss.made_at, loss, "softmax over a dimension of size 1 gives 1 for every sample")
    return None


def _finding(run, place, loss, what) -> Finding:  # type: ignore[no-untyped-def]
    return handbook.finding(
        "one-unit-softmax",
        place=place,
        step=run.looks[0].step,
        evidence=(Evidence("input shape", loss.input_shape), Evidence("loss", loss.value)),
        chain=(Link(what, place), Link("so no gradient says anything about the weights", loss.place)),
        fixes=(
            Fix("for two classes: one output with BCEWithLogitsLoss, or two outputs with cross_entropy"),
            Fix("for a regression: no softmax, and a regression loss"),
        ),
    )
