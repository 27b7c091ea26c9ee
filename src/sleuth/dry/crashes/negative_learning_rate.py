"""A learning rate below 0."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

_WORDS = re.compile(r"Invalid learning rate: -")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("negative-learning-rate", crash, title=crash.message.splitlines()[0])
