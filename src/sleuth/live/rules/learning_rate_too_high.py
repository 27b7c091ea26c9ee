"""A learning rate that keeps the loss from falling, where a lower one makes it fall."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 3.1
# Not learning: the loss is still above this share of its start, or of what answering blindly costs.
LEARNT = 0.7
# In the experiment a lower rate must do better by this much, and the run's own rate must fail.
BETTER, FALLS = 0.7, 0.9
FACTORS = (1.0, 0.1, 0.01)


def look(run: Run) -> Finding | None:
    if run.supervised is None or not run.mature or run.learns(LEARNT):
        return None
    trials = run.laboratory.rates(FACTORS)
    held = next(iter(run.stepping), None)
    if trials is None or held is None:
        return None
    own = trials[1.0]
    best = min(FACTORS[1:], key=lambda f: trials[f].reached)
    lower = trials[best]
    fails = own.reached > FALLS * min(own.before, lower.before)
    if not fails or not lower.reached < min(BETTER * own.reached, FALLS * lower.before):
        return None
    rate = held.highest_rate
    return handbook.finding(
        "learning-rate-too-high",
        place=held.made,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("lr", rate),
            Evidence("loss at first", run.start),
            Evidence("loss at last", run.recent),
            Evidence("experiment at the same rate", own.after),
            Evidence(f"experiment at {best:g} times the rate", lower.after),
        ),
        chain=(
            Link(f"{held.kind} is built with lr = {rate:g}", held.made),
            Link(
                f"over {run.loss.count:,} steps the loss went from {run.start:.4g} to {run.recent:.4g}",
                run.backward_place,
            ),
            Link(f"on a copy from the first weights, {lower.says}; {own.says}"),
        ),
        fixes=(Fix(f"lr={rate * best:.3g}", verified=True),),
    )
