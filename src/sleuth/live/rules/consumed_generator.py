"""A generator of parameters that was walked before, and is now empty."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2


def look(run: Run) -> Finding | None:
    clipped = run.facts.first("clipped nothing")
    if clipped is not None and clipped.times >= TIMES:
        return _finding(clipped.place, clipped.first_step, "this call gets no parameter at all, and clips nothing")
    empty = run.facts.first("empty parameter group")
    if empty is not None:
        return _finding(empty.place, empty.first_step, "a parameter group of this optimiser is empty")
    crash = run.crash
    if crash is not None and crash.is_known_as("consumed-generator"):
        return _finding(crash.place, run.step, "the optimiser gets no parameter at all")
    return None


def _finding(place, step, what) -> Finding:  # type: ignore[no-untyped-def]
    return handbook.finding(
        "consumed-generator",
        place=place,
        step=step,
        evidence=(Evidence("parameters received", 0),),
        chain=(Link("model.parameters() gives a generator, which can be walked once"), Link(what, place)),
        fixes=(Fix("call model.parameters() anew each time, or keep list(model.parameters())"),),
    )
