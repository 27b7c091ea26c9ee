"""The training loss falls while the validation loss rises."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.4
EVALUATIONS = 5
# The validation loss has risen by this much from its best, for at least this many evaluations on end.
RISE, ON_END = 1.15, 3
# The training loss is this far below the validation loss.
BELOW = 0.7


def look(run: Run) -> Finding | None:
    seen = run.evaluations
    if len(seen) < EVALUATIONS or not run.ended or not run.loss.count:
        return None
    best = min(range(len(seen)), key=lambda i: seen[i].loss)
    after = [one.loss for one in seen[best:]]
    if len(after) <= ON_END or after[-1] < RISE * after[0] or min(after[-ON_END:]) < after[0]:
        return None
    if run.recent > BELOW * after[-1] or run.recent > run.loss.part(0.0, 0.2):
        return None
    return handbook.finding(
        "overfitting",
        place=seen[best].place,
        step=seen[best].step,
        certainty="hint",
        severity="note",
        evidence=(
            Evidence("best validation loss", seen[best].loss),
            Evidence("last validation loss", seen[-1].loss),
            Evidence("training loss", run.recent),
        ),
        chain=(
            Link(f"the validation loss was best at step {seen[best].step}: {seen[best].loss:.4g}", seen[best].place),
            Link(f"since then it rose to {seen[-1].loss:.4g}, while the training loss fell to {run.recent:.4g}"),
        ),
        fixes=(
            Fix(f"stop at step {seen[best].step}, or keep the weights of the best evaluation"),
            Fix("more data, augmentation, weight decay, dropout, or a smaller model"),
        ),
    )
