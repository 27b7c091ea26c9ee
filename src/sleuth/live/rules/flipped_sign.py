"""The loss is minimised with its sign flipped, so that it grows."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1
LOOKS = 4
# The loss itself has grown by so much since the first look.
GROWTH = 1.05


def look(run: Run) -> Finding | None:
    if len(run.stepping) != 1 or run.step < 20:
        return None
    flipped = [loss for loss in run.training_losses if loss.is_root and loss.negated_at is not None]
    if len(flipped) < LOOKS or any(loss.share_of_loss < 0.9 for loss in flipped):
        return None
    first, last = flipped[0].value, flipped[-1].value
    if last < first * GROWTH or last <= 0:
        return None
    return handbook.finding(
        "flipped-sign",
        place=flipped[0].negated_at,
        step=run.looks[0].step,
        certainty="likely",
        evidence=(Evidence("loss at first", first), Evidence("loss at last", last)),
        chain=(
            Link(f"{flipped[0].function} is to be made small", flipped[0].place),
            Link("here its sign is flipped, so the optimiser makes it large", flipped[0].negated_at),
            Link(f"it went from {first:.4g} to {last:.4g}"),
        ),
        fixes=(Fix("remove the minus sign: optimisers minimise"),),
    )
