"""A decay factor of Adam outside of 0 to 1."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

_WORDS = re.compile(r"Invalid beta parameter")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("betas-out-of-range", crash, title=crash.message.splitlines()[0])
