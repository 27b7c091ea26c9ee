"""The program once more, with the files its first rehearsal wrote: it finds its checkpoint and goes on from there."""

from __future__ import annotations

from dataclasses import replace

from sleuth.dry.corners import titled
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Finding

TITLE = "when it is started again and finds its own checkpoint"


def scenario(plain: Scenario, outcome: Outcome) -> Scenario | None:
    return replace(plain, keeps_files=True) if any(act == "write" for act, _ in outcome.kept_off) else None


def told(finding: Finding) -> Finding | None:
    return replace(titled(finding, TITLE), certainty="likely")
