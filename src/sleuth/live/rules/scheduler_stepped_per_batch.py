"""A schedule counted in epochs that is stepped after every batch: the learning rate is gone within an epoch."""

from __future__ import annotations

import itertools

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 8
# A schedule that ends within half an epoch was not meant in batches, nor one that ends before the first of several.
SHARE_OF_EPOCH, SHARE_OF_FIRST = 0.5, 0.9
# Or, looking back: the rate was gone before this share of the run was over.
SHARE_OF_RUN = 0.25


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("scheduler stepped"):
        at, horizon = fact.numbers["steps_at"], fact.numbers["horizon"]
        if fact.times < TIMES or horizon is None:
            continue
        if any(after - before != 1 for before, after in itertools.pairwise(at)):
            continue
        epoch = run.batches_per_epoch
        gone = fact.numbers.get("gone_at")
        early = run.ended and gone is not None and run.step >= 100 and gone < SHARE_OF_RUN * run.step
        if epoch is not None:
            early = early or horizon < (SHARE_OF_FIRST if run.epochs > 1 else SHARE_OF_EPOCH) * epoch
        if not early:
            continue
        return handbook.finding(
            "scheduler-stepped-per-batch",
            place=fact.place,
            step=fact.first_step,
            certainty="likely",
            severity="warning",
            evidence=(
                Evidence("scheduler", fact.numbers["kind"]),
                Evidence("its steps until the rate is spent", round(horizon)),
                Evidence("batches in an epoch", epoch if epoch is not None else "unknown"),
                Evidence("lr at first", fact.numbers["first_rate"]),
                Evidence("lr at last", fact.numbers["rate"]),
            ),
            chain=(
                Link(f"the schedule is done after {round(horizon)} of its own steps", fact.places.get("made")),
                Link("it steps after every batch", fact.place),
                Link(f"the learning rate went from {fact.numbers['first_rate']:.3g} to {fact.numbers['rate']:.3g}"),
            ),
            fixes=(
                Fix("call scheduler.step() once an epoch, after the loop over the batches"),
                Fix("or count the schedule in batches: T_max=epochs * len(loader)"),
            ),
        )
    return None
