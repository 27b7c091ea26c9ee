"""A softmax along the batch: the samples compete instead of the classes."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.made_by not in ("softmax", "log_softmax") or len(loss.input_shape) != 2:
            continue
        if loss.made_dim != 0 or loss.input_shape[0] < 2 or loss.input_shape[1] < 2:
            continue
        return handbook.finding(
            "softmax-over-batch",
            place=loss.made_at,
            step=run.looks[0].step,
            certainty="likely",
            severity="warning",
            evidence=(Evidence("dim", 0), Evidence("shape", loss.input_shape)),
            chain=(
                Link(f"{loss.made_by} along dimension 0, the batch", loss.made_at),
                Link("the loss function takes dimension 1 for the classes", loss.place),
            ),
            fixes=(Fix("use dim=1 (or dim=-1)"),),
        )
    return None
