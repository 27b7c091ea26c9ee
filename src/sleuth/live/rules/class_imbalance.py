"""One class has nearly all the labels, and the model predicts nothing else."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.1
SHARE = 0.95
LOOKS = 3


def look(run: Run) -> Finding | None:
    loss = run.supervised
    total = sum(run.labels.values())
    if loss is None or len(run.labels) < 2 or not run.mature or max(run.labels.values()) < SHARE * total:
        return None
    if loss.extra.get("weighted") or loss.extra.get("pos_weight"):
        return None
    common = max(run.labels, key=lambda label: run.labels[label])
    seen = [one for one in run.training_losses if one.is_root and one.predictions][-LOOKS:]
    if len(seen) < LOOKS or {label for one in seen for label in one.predictions} != {common}:
        return None
    return handbook.finding(
        "class-imbalance",
        place=loss.place,
        step=run.looks[-1].step,
        certainty="hint",
        severity="note",
        evidence=(
            Evidence("most frequent class", common),
            Evidence("its share of the labels", run.labels[common] / total),
        ),
        chain=(
            Link(f"class {common} has {run.labels[common] / total:.1%} of the labels"),
            Link("the model predicts it for every sample, which already looks accurate", loss.place),
        ),
        fixes=(Fix("weight the classes in the loss, or sample them evenly"), Fix("measure recall for each class")),
    )
