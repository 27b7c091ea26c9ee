"""Targets of a type that the loss cannot use."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _use, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

REFINES = ("dtype_mismatch", "float64_into_float32_model")
_WORDS = re.compile(
    r"expected target dtype|expected scalar type (?:Long|Float)|Found dtype|can't be cast to the desired output type|"
    r"not implemented for '(?:Int|Float|Double|Short|Char|Bool|Long)'|Expected floating point type for target"
)
_CLASSES = ("cross_entropy", "nll_loss", "multi_margin_loss")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if call is None or len(call.births) < 2 or not _WORDS.search(crash.message):
        return None
    if not ("loss" in call.operation or "entropy" in call.operation):
        return None
    prediction, target = call.births[:2]
    wants_classes = "binary" not in call.operation and any(name in call.operation for name in _CLASSES)
    if (target.dtype == "int64") if wants_classes else (target.dtype == prediction.dtype):
        return None
    wanted = "int64" if wants_classes else prediction.dtype
    return told(
        "class-targets-as-float",
        crash,
        title=f"{_words.operation(call.operation)} wants targets of {wanted}, these are {target.dtype}",
        chain=_history.of_types(target),
        fixes=[_use.followed_by(crash, target, ".long()" if wants_classes else ".float()", "target")],
    )
