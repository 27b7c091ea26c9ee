"""A pooling layer with more padding than half of its window."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

_WORDS = re.compile(r"pad should be at most half of (?:effective )?kernel size")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("pool-padding-too-large", crash, title=crash.message.splitlines()[0])
