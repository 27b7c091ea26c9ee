"""Every rank trains on the same batches, so the others add nothing."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
# Ranks that draw at random meet by chance once, not again and again; three different batches are no fixed test batch.
LOOKS = 4
DIFFERENT = 3


def look(run: Run) -> Finding | None:
    fact = run.facts.first("same data")
    if fact is None:
        return None
    same, compared = fact.numbers["same"], fact.numbers["compared"]
    if same < LOOKS or same < compared or fact.numbers["different batches"] < DIFFERENT:
        return None
    if fact.numbers["intent"] in (None, "DistributedSampler"):
        return None
    count = len(fact.numbers["ranks"])
    return handbook.finding(
        "same-data-on-every-rank",
        place=run.loader_made,
        step=0,
        evidence=(
            Evidence("ranks", fact.numbers["ranks"]),
            Evidence("looks with the same batch", same),
            Evidence("different batches among them", fact.numbers["different batches"]),
            Evidence("trained together by", fact.numbers["intent"]),
        ),
        chain=(
            Link("this gives every rank the whole data in the same order", run.loader_made),
            Link(f"all {count} ranks compute the same gradients: {count} processes do the work of one"),
        ),
        fixes=(
            Fix("DataLoader(..., sampler=DistributedSampler(dataset)), with sampler.set_epoch(epoch) in every epoch"),
            Fix("an IterableDataset has to pick its own part by dist.get_rank() and dist.get_world_size()"),
        ),
    )
