"""It learns, but a higher learning rate would be many times faster."""

from __future__ import annotations

import itertools
import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.3
# Still above this share of the start after the whole run, and always falling.
SLOW = 0.5
# In the experiment ten times the rate goes this many times as far.
FASTER = 4.0
# A loss well below that of answering blindly is nearly done, and has every right to be slow.
UNFINISHED = 0.3
# A model that starts so far below that was trained before: it is tuned, with a low rate on purpose.
TRAINED = 0.8
FACTORS = (1.0, 10.0, 100.0, 1000.0)


def look(run: Run) -> Finding | None:
    if run.supervised is None or not run.ended or run.loss.count < 150 or run.recent < SLOW * run.start:
        return None
    if run.facts.first("orphan") is not None:
        # A part of the network is not trained at all: that may be why, and another rate would be no cure.
        return None
    chance = run.chance
    if chance is None or run.recent < UNFINISHED * chance or run.start < TRAINED * chance:
        return None
    parts = run.loss.means(5)
    if any(later > earlier for earlier, later in itertools.pairwise(parts)):
        return None
    held = next(iter(run.stepping), None)
    if held is None or (held.usual_rate is not None and math.isclose(held.highest_rate, held.usual_rate, rel_tol=1e-4)):
        return None
    trials = run.laboratory.rates(FACTORS)
    if trials is None:
        return None
    higher = trials[10.0]
    own = trials[1.0]
    if higher.before - higher.after < FASTER * (own.before - own.after) or not higher.after < run.recent:
        return None
    rate = held.highest_rate
    return handbook.finding(
        "slow-convergence",
        place=held.made,
        step=0,
        certainty="hint",
        severity="note",
        evidence=(
            Evidence("lr", rate),
            Evidence("loss at first", run.start),
            Evidence("loss at last", run.recent),
            Evidence("experiment at 10 times the rate", higher.after),
        ),
        chain=(
            Link(f"{held.kind} is built with lr = {rate:g}", held.made),
            Link(
                f"the loss falls all the time, but in {run.loss.count:,} steps only from {run.start:.4g} "
                f"to {run.recent:.4g}"
            ),
            Link(f"on a copy from the first weights, {higher.says}"),
        ),
        fixes=(Fix(f"lr={rate * 10:.3g}", verified=True),),
    )
