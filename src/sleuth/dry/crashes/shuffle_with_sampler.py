"""A DataLoader that is given two orders at once."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

_WORDS = re.compile(r"(?:batch_)?sampler option is mutually exclusive with")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("shuffle-with-sampler", crash)
