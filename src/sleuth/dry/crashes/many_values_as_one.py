"""A tensor of several values used where one is needed."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(
    r"Boolean value of Tensor with more than one value|elements cannot be converted to Scalar|"
    r"only one element tensors can be converted|only integer tensors of a single element"
)


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if not _WORDS.search(crash.message):
        return None
    births = call.births if call is not None else ()
    is_a_branch = "Boolean" in crash.message
    fix = (
        "say which truth is meant: `.any()` or `.all()`"
        if is_a_branch
        else "make one number of it first: `.mean()`, `.sum()`"
    )
    if not births:
        return told("many-values-as-one", crash, fixes=[Fix(fix)])
    return told(
        "many-values-as-one",
        crash,
        title=f"one value is needed, and the tensor is {_words.shape(births[0].shape)}",
        chain=_history.of_shapes(births[0]),
        fixes=[Fix(fix)],
    )
