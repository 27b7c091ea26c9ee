"""Gradients are computed round after round, and no optimiser ever uses them."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
# A program that ends after so few rounds may have been cut short on purpose.
AT_LEAST = 3


def look(run: Run) -> Finding | None:
    if run.step or not run.optimizers or not run.ended or run.crash is not None or run.backwards < AT_LEAST:
        return None
    if run.scaled or not run.facts.all("gradient never used"):
        return None
    made = run.optimizers[0].made
    return handbook.finding(
        "backward-without-step",
        place=run.backward_place,
        step=0,
        evidence=(Evidence("backward passes", run.backwards), Evidence("optimiser steps", 0)),
        chain=(
            Link(f"{run.optimizers[0].kind} was built over these parameters", made),
            Link(f"{run.backwards} backward passes gave them gradients", run.backward_place),
            Link("its step() was never called"),
        ),
        fixes=(
            Fix("call optimizer.step() with its parentheses, once a round"),
            Fix("where gradients accumulate, check that the condition for the step can become true"),
        ),
    )
