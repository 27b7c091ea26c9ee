"""Two tensors on two different cards."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _moving
from sleuth.dry.crashes._stray import stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

REFINES = ("device_mismatch",)


def explain(crash: Crash) -> Finding | None:
    found = stray(crash)
    if found is None or "cpu" in (found.birth.device, found.wanted):
        return None
    return told(
        "mixed-devices",
        crash,
        title=f"{found.name} is on {found.birth.device}, the rest on {found.wanted}",
        evidence=found.evidence,
        chain=found.chain,
        fixes=[_moving.to_the_others(crash, found)],
    )
