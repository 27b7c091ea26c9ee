"""A class label that the prediction has no column for."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Link

REFINES = ("index_out_of_bounds", "device_mismatch")
_LABEL = re.compile(r"Target (-?\d+) is out of bounds|Assertion `?t >= 0 && t < n_classes")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    found = _LABEL.search(_messages.said(crash.error))
    in_a_loss = call is not None and ("loss" in call.operation or "entropy" in call.operation)
    if found is None and not (in_a_loss and "device-side assert" in crash.message):
        return None
    if call is None or not call.births:
        return told("label-out-of-range", crash)
    scores = call.births[0]
    classes = scores.shape[1] if len(scores.shape) > 1 else scores.shape[0]
    label = found.group(1) if found is not None else None
    title = f"label {label} for a model of {classes} classes (0 to {classes - 1})" if label else None
    return told(
        "label-out-of-range",
        crash,
        title=title,
        evidence=[Evidence("label", int(label))] if label else [],
        chain=[
            *(link for birth in call.births[1:2] for link in _history.of_shapes(birth)),
            Link(f"{_words.maker(_history.giver(scores, 1 - len(scores.shape)))} gives {classes} scores", scores.place),
        ],
    )
