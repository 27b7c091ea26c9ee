"""Dropout that leaves next to nothing, in a network that does not learn."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.0
SHARE = 0.8
STARVING = 0.9
LEARNT = 0.8


def look(run: Run) -> Finding | None:
    if run.supervised is None or not run.mature or not run.looks or run.learns(LEARNT):
        return None
    high = [(share, place) for share, place in run.looks[-1].dropouts if share >= SHARE]
    if not high:
        return None
    share, place = high[0]
    # A loss that falls slowly may do so for another reason; a model that ignores its input gets none of it.
    starved = run.at_chance and share >= STARVING
    return handbook.finding(
        "dropout-too-high",
        place=place,
        step=0,
        certainty="likely" if starved else "hint",
        severity="warning" if starved else "note",
        evidence=(Evidence("p", share), Evidence("such layers", len(high)), Evidence("loss", run.recent)),
        chain=(
            Link(f"dropout throws away {share:.0%} of the values", place),
            Link(f"the loss went from {run.start:.4g} to {run.recent:.4g} in {run.loss.count:,} steps"),
        ),
        fixes=(Fix("use p between 0.1 and 0.5"),),
    )
