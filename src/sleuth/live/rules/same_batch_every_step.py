"""A new iterator for every step, which deals the first batch again and again."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 5


def look(run: Run) -> Finding | None:
    fact = run.facts.first("same batch again")
    if fact is None or fact.times < TIMES:
        return None
    return handbook.finding(
        "same-batch-every-step",
        place=fact.place,
        step=fact.first_step,
        evidence=(
            Evidence("times the same samples came again", fact.times),
            Evidence("batches the loader has", fact.numbers["batches"]),
        ),
        chain=(
            Link("iter(loader) starts the loader from its beginning, so this is always its first batch", fact.place),
            Link(f"{fact.numbers['batches'] - 1} other batches are never seen"),
        ),
        fixes=(Fix("loop over the loader: for batch in loader"), Fix("or make the iterator once, outside the loop")),
    )
