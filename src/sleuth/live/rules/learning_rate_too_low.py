"""A learning rate so low that the loss hardly moves, where a higher one makes it fall."""

from __future__ import annotations

import statistics

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 3.1
# Over the whole run the loss has fallen by less than this share.
FALL = 0.05
# A step changes the weights by this share of their size at most; about 1e-3 is usual.
UPDATE = 3e-4
# In the experiment a higher rate makes the loss fall by this share, and this many times as far as the run's own does.
BETTER, TIMES = 0.03, 10.0
FACTORS = (1.0, 10.0, 100.0, 1000.0, 10000.0)


def look(run: Run) -> Finding | None:
    if run.supervised is None or not run.mature or run.recent < (1 - FALL) * run.start:
        return None
    shares = [
        w.update_norm / w.norm
        for one in run.looks[1:]
        for w in one.weights
        # A bias starts at 0: any step is large against that.
        if w.update_norm is not None and w.norm > 0 and w.gradient_norm and len(w.shape) > 1
    ]
    if not shares or statistics.median(shares) > UPDATE:
        return None
    trials = run.laboratory.rates(FACTORS)
    held = next(iter(run.stepping), None)
    if trials is None or held is None:
        return None
    own = trials[1.0]
    best = min(FACTORS[1:], key=lambda f: trials[f].reached)
    higher = trials[best]
    fall, own_fall = higher.before - higher.after, own.before - own.after
    if fall < BETTER * higher.before or fall < TIMES * own_fall:
        return None
    rate = held.highest_rate
    return handbook.finding(
        "learning-rate-too-low",
        place=held.made,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("lr", rate),
            Evidence("change of a weight in a step, against its size", statistics.median(shares)),
            Evidence("loss at first", run.start),
            Evidence("loss at last", run.recent),
            Evidence(f"experiment at {best:g} times the rate", higher.after),
        ),
        chain=(
            Link(f"{held.kind} is built with lr = {rate:g}", held.made),
            Link(f"a step changes the weights by {statistics.median(shares):.1g} of their size", held.step_place),
            Link(f"over {run.loss.count:,} steps the loss went from {run.start:.4g} to {run.recent:.4g}"),
            Link(f"on a copy from the first weights, {higher.says}; {own.says}"),
        ),
        fixes=(Fix(f"lr={rate * best:.3g}", verified=True),),
    )
