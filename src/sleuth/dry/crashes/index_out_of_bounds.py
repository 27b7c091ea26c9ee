"""An index beyond the end of a tensor."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding

_BEYOND = re.compile(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
_OTHERS = re.compile(r"index out of range in self|selected index k out of range|Class values must be smaller than")


def explain(crash: Crash) -> Finding | None:
    message = _messages.said(crash.error)
    found = _BEYOND.search(message)
    call = crash.call
    if call is None or not call.births or (found is None and not _OTHERS.search(message)):
        return None
    birth = call.births[0]
    shape = _words.shape(birth.shape)
    if found is None:
        title, evidence = f"{_words.operation(call.operation)} reaches beyond the end of {shape}", []
    else:
        index, dimension, size = (int(one) for one in found.groups())
        title = f"index {index} in a dimension of {size} (dimension {dimension} of {shape}): the last is {size - 1}"
        evidence = [Evidence("index", index), Evidence("size", size)]
    return told("index-out-of-bounds", crash, title=title, evidence=evidence, chain=_history.of_shapes(birth))
