"""A learning rate that is 0 at every step."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
# A warm-up may start from 0 and stay there for a few steps.
STEPS = 20


def look(run: Run) -> Finding | None:
    for held in run.optimizers:
        if held.highest_rate == 0 and min(held.steps, held.rates_seen) >= (3 if run.ended else STEPS):
            place = held.scheduler_made if held.settings.get("lr") and held.scheduler_made else held.made
            return handbook.finding(
                "learning-rate-zero",
                place=place,
                step=0,
                evidence=(Evidence("lr", 0.0), Evidence("steps", held.steps)),
                chain=(Link(f"{held.kind} has stepped {held.steps} times with lr = 0", held.step_place),),
                fixes=(Fix("set a learning rate above 0; print optimizer.param_groups[0]['lr'] to see what is used"),),
            )
    return None
