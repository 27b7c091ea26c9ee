"""One class predicted for every sample."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.1
LOOKS = 3
# Where the class predicted has more of the labels than this, that is imbalance.
SHARE = 0.95
STEPS = 100


def look(run: Run) -> Finding | None:
    loss = run.supervised
    if loss is None or len(run.labels) < 2 or run.loss.count < STEPS or not run.mature:
        return None
    seen = [one for one in run.training_losses if one.is_root and one.predictions][-LOOKS:]
    answers = {label for one in seen for label in one.predictions}
    if len(seen) < LOOKS or len(answers) != 1 or sum(sum(one.predictions.values()) for one in seen) < 32:
        return None
    (answer,) = answers
    share = run.labels.get(answer, 0) / sum(run.labels.values())
    weighted = loss.extra.get("weighted") or loss.extra.get("pos_weight")
    if share > SHARE or (share > 0.5 and run.learns(0.9) and not weighted):
        return None
    return handbook.finding(
        "class-collapse",
        place=loss.place,
        step=run.looks[-1].step,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("class predicted for every sample", answer), Evidence("classes", len(run.labels))),
        chain=(
            Link(f"in the last {LOOKS} looks every sample was given class {answer}", loss.place),
            Link(f"the labels hold {len(run.labels)} classes"),
        ),
        fixes=(
            Fix("lower the learning rate, and check the inputs' scale"),
            Fix("check that the loss weights and the sampling do not favour this class"),
        ),
    )
