"""A whole model was saved, and torch.load refuses it."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(r"Weights only load failed|WeightsUnpickler error|Unsupported global|Can't get attribute '\w+' on")


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    fix = Fix("save model.state_dict() and load it into a model of the same class")
    return told("whole-model-load", crash, fixes=[fix])
