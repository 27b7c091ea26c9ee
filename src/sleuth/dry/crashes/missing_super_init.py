"""A network that never calls the __init__ of its base class."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(r"before Module\.__init__\(\) call|has no attribute '_(?:modules|parameters|buffers)'")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("missing-super-init", crash, fixes=[Fix("super().__init__() as the first line of __init__")])
