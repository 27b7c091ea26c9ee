"""Gradients accumulate over several backward passes, but each but the last is erased before the step."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 4
# A backward pass that never leads to a step serves something else (an adversarial input); one that sometimes does, and
# in at least this share of cases is erased unused, is a part of an accumulation.
SHARE = 0.3


def look(run: Run) -> Finding | None:
    if any(fact.numbers["kind"] == "erased" for fact in run.facts.all("step without gradients")):
        # Everything is erased, not all but the last.
        return None
    used = {(f.place.path, f.place.line) for f in run.facts.all("backward used by a step") if f.place is not None}
    for fact in run.facts.all("gradients erased unused"):
        backward = fact.places.get("backward")
        if fact.times < TIMES or backward is None or (backward.path, backward.line) not in used:
            continue
        if fact.times < SHARE * fact.numbers["backwards"]:
            continue
        return handbook.finding(
            "accumulated-gradients-erased",
            place=fact.place,
            step=fact.first_step,
            evidence=(Evidence("gradients erased unused", fact.times), Evidence("optimiser steps", run.step)),
            chain=(
                Link("this backward pass runs several times for each step", backward),
                Link("each time the gradients of the time before are erased, unused", fact.place),
            ),
            fixes=(Fix("call zero_grad() only after a step, not for every micro-batch"),),
        )
    return None
