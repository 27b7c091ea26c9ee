"""Element 0 of a tensor that has no dimensions."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(r"invalid index of a 0-dim tensor|iteration over a 0-d tensor")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("index-of-scalar-tensor", crash, fixes=[Fix("use .item() for its number")])
