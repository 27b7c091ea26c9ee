"""The mean of whole numbers or truth values."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

REFINES = ("dtype_mismatch",)
_WORDS = re.compile(r"could not infer output dtype|(?:mean|std|var).* (?:floating point|dtype).*Got: \w+")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if not _WORDS.search(crash.message) or call is None or not call.births:
        return None
    birth = call.births[0]
    return told(
        "mean-of-integers",
        crash,
        title=f"{_words.operation(call.operation)} of {_words.of_type(birth.dtype)}",
        chain=_history.of_types(birth),
        fixes=[Fix(f".float() before {_words.operation(call.operation)}")],
    )
