"""A penalty that makes up all but the whole of the loss."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1.5
LOOKS = 3
SHARE = 0.99


def look(run: Run) -> Finding | None:
    found = [
        loss
        for loss in run.training_losses
        if loss.is_root and loss.share_of_loss < 1 - SHARE and loss.extra.get("penalty", 0.0) > SHARE
    ]
    if len(found) < LOOKS or len(found) < 0.8 * len(run.looks) or not run.step >= 8:
        return None
    loss = found[-1]
    return handbook.finding(
        "regulariser-drowns-loss",
        place=loss.extra.get("penalty_at") or loss.place,
        step=run.looks[0].step,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("share of the loss function", loss.share_of_loss),
            Evidence("share of the penalty", loss.extra["penalty"]),
        ),
        chain=(
            Link(f"{loss.function} compares the output with the targets", loss.place),
            Link(
                f"a penalty on the weights is added: {loss.extra['penalty']:.1%} of the sum, the targets hardly count",
                loss.extra.get("penalty_at"),
            ),
        ),
        fixes=(Fix("weight the penalty down until both terms are of a size at the start"),),
    )
