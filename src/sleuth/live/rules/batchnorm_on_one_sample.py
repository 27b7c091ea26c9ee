"""BatchNorm in training mode with one value a channel: there is no variance to normalise by."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0


def look(run: Run) -> Finding | None:
    crash = run.crash
    if crash is None or "more than 1 value per channel" not in crash.message:
        return None
    size = crash.message.rpartition("input size ")[2]
    return handbook.finding(
        "batchnorm-on-one-sample",
        place=crash.place,
        step=run.step,
        evidence=(
            Evidence("input size", size),
            Evidence("batches in an epoch", run.batches_per_epoch or "unknown"),
            *crash.evidence,
        ),
        chain=(Link(f"BatchNorm gets an input of size {size}: one value for each channel", crash.place),),
        fixes=(
            Fix("DataLoader(..., drop_last=True): the last batch of an epoch holds a single sample"),
            Fix("for a single sample at prediction time, call model.eval() first"),
            Fix("with batches this small, use GroupNorm or LayerNorm"),
        ),
    )
