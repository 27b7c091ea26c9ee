"""Two cards, for a program that asks how many there are."""

from __future__ import annotations

from dataclasses import replace

from sleuth.dry.corners import titled
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Finding

TITLE = "on two GPUs"


def scenario(plain: Scenario, outcome: Outcome) -> Scenario | None:
    return replace(plain, cards=2) if outcome.acts.get("counted cards") and plain.cards == 1 else None


def told(finding: Finding) -> Finding | None:
    return replace(titled(finding, TITLE), certainty="likely", severity="warning")
