"""Every sample of every batch is the same, while the targets differ."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.0
LOOKS = 3
# Where the loss falls all the same, something else than this input tells the samples apart.
LEARNT = 0.9


def look(run: Run) -> Finding | None:
    seen = [one.inputs[0] for one in run.looks if one.inputs]
    same = [one for one in seen if one.identical_rows]
    targets = [loss for loss in run.training_losses if loss.is_root]
    if len(same) < LOOKS or len(same) < len(seen) or not any(loss.target_variance > 0 for loss in targets):
        return None
    if len({(i.low, i.high, i.mean) for i in same}) > 1 or any(i.others for i in same):
        return None
    if not run.mature or run.supervised is None or run.learns(LEARNT):
        return None
    one = same[0]
    return handbook.finding(
        "constant-input",
        place=one.place,
        step=run.looks[0].step,
        evidence=(Evidence("shape", one.shape), Evidence("minimum", one.low), Evidence("maximum", one.high)),
        chain=(
            Link(f"all {one.shape[0]} rows of the batch are equal, in each of {len(same)} looks", one.place),
            Link("the targets differ, so nothing can be learnt from these inputs", targets[0].place),
        ),
        fixes=(Fix("look at what the data set returns: print(dataset[0], dataset[1])"),),
    )
