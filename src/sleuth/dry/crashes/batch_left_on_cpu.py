"""A batch, input or target, that was never moved to where the model is."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _moving
from sleuth.dry.crashes._stray import stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

REFINES = ("device_mismatch",)


def explain(crash: Crash) -> Finding | None:
    found = stray(crash)
    if found is None or found.birth.device != "cpu" or found.origin.operation != "DataLoader":
        return None
    if any(one.device != "cpu" for one in found.history):
        return None
    return told(
        "batch-left-on-cpu",
        crash,
        title=f"{found.name} comes from the DataLoader and was never moved to {found.wanted}",
        evidence=found.evidence,
        chain=found.chain,
        fixes=[_moving.to_the_others(crash, found)],
    )
