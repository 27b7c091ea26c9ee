"""Init functions that run again on weights which are being trained."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2
# A part of the network may be reset on purpose; most of it is not.
SHARE = 0.5


def look(run: Run) -> Finding | None:
    for event in run.facts.all("initialised again"):
        weights = [f for f in run.facts.all("weight initialised again") if f.place == event.place]
        often = [f for f in weights if f.times >= TIMES]
        total = max((f.numbers["held"] for f in often), default=0)
        if not often or len(often) * 2 < SHARE * total or event.last_step == event.first_step:
            continue
        return handbook.finding(
            "weights-reinitialised",
            place=event.place,
            step=event.first_step,
            certainty="likely",
            severity="warning",
            evidence=(Evidence("weights set anew", len(often)), Evidence("times each", often[0].times)),
            chain=(
                Link("an optimiser has trained these weights"),
                Link("they are filled with initial values again", event.place),
            ),
            fixes=(Fix("initialise once, before training"),),
        )
    return None
