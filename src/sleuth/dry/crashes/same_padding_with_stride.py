"""Same padding asked of a convolution with a stride."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(r"padding='same' is not supported for strided")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    return told("same-padding-with-stride", crash, fixes=[Fix("a number for the padding, e.g. kernel_size // 2")])
