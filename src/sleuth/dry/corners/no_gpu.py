"""A machine without a GPU, for a program that asks whether there is one."""

from __future__ import annotations

from dataclasses import replace

from sleuth.dry.corners import titled
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Finding

TITLE = "on a machine without a GPU"


def scenario(plain: Scenario, outcome: Outcome) -> Scenario | None:
    return (
        replace(plain, device="cpu", cards=0)
        if outcome.acts.get("asked for a card") and plain.device != "cpu"
        else None
    )


def told(finding: Finding) -> Finding | None:
    if finding.certainty == "hint":
        return titled(finding, TITLE)
    return replace(titled(finding, TITLE), certainty="likely", severity="warning")
