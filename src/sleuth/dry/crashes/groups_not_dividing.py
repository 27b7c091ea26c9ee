"""Channels that do not divide into groups, or features that do not divide into heads."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(r"must be divisible by (?:groups|num_groups|num_heads)|be divisible by num_groups")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told(
        "groups-not-dividing",
        crash,
        title=crash.message.splitlines()[0],
        fixes=[Fix("choose numbers of which one divides the other")],
    )
