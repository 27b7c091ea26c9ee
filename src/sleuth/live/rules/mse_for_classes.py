"""Class numbers fitted as if their distance meant something."""

from __future__ import annotations

import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4
CLASSES = range(3, 101)
# So many samples, and only these few whole numbers from 0 on.
SAMPLES = 32


def look(run: Run) -> Finding | None:
    loss = run.supervised
    if loss is None or loss.function not in ("mse_loss", "l1_loss") or len(run.looks) < 3:
        return None
    whole = [one for one in run.training_losses if one.is_root]
    count = sum(math.prod(one.target_shape) for one in whole)
    if not all(one.integral_targets for one in whole) or min(one.target_low for one in whole) != 0:
        return None
    classes = int(max(one.target_high for one in whole)) + 1
    if classes not in CLASSES or count < SAMPLES * classes or loss.input_shape[1:] not in ((), (1,)):
        return None
    if max(one.extra["distinct_targets"] for one in whole) < classes or not loss.extra["from_integers"]:
        return None
    return handbook.finding(
        "mse-for-classes",
        place=loss.place,
        step=run.looks[0].step,
        certainty="hint",
        severity="note",
        evidence=(Evidence("distinct targets", classes), Evidence("output width", 1)),
        chain=(
            Link(f"the targets are the whole numbers 0 to {classes - 1}, which were integers in the data", loss.place),
            Link("a squared error says that class 0 is nearer to class 1 than to class 2"),
        ),
        fixes=(Fix(f"give the model {classes} outputs and use cross_entropy"),),
    )
