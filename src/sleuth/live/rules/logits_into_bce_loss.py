"""binary_cross_entropy over values that are no probabilities."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    crash = run.crash
    if crash is None or "elements of input should be between 0 and 1" not in crash.message:
        return None
    return handbook.finding(
        "logits-into-bce-loss",
        place=crash.place,
        step=run.step,
        evidence=crash.evidence or (Evidence("error", crash.message.splitlines()[0]),),
        chain=(Link("binary_cross_entropy takes probabilities, and got values outside [0, 1]", crash.place),),
        fixes=(
            Fix("use BCEWithLogitsLoss (binary_cross_entropy_with_logits) on the raw scores"),
            Fix("or apply sigmoid as the last layer"),
        ),
    )
