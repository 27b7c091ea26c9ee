"""A DistributedSampler that is never told the epoch deals the same order in every epoch."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
# Three whole passes in one order: two may be a resumed epoch.
TIMES = 2


def look(run: Run) -> Finding | None:
    fact = run.facts.first("same order again")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "sampler-epoch-not-set",
        place=fact.place,
        step=fact.first_step,
        severity="warning",
        evidence=(
            Evidence("passes in the same order", fact.times + 1),
            Evidence("epoch the sampler was told", fact.numbers["epoch"]),
        ),
        chain=(
            Link("the sampler of this loader shuffles by its epoch number, and by nothing else", fact.place),
            Link(f"that number was {fact.numbers['epoch']} in every pass, so each had the same batches in one order"),
        ),
        fixes=(Fix("call sampler.set_epoch(epoch) at the start of every epoch, before the loop over the loader"),),
    )
