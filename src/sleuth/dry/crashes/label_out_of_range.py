"""A class label that the prediction has no column for."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _values, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Link

REFINES = ("index_out_of_bounds", "device_mismatch")
_NOT_A_PROBABILITY = "all elements of target should be between 0 and 1"
_LABEL = re.compile(r"Target (-?\d+) is out of bounds|Assertion `?t >= 0 && t < n_classes")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    said = _messages.said(crash.error)
    found = _LABEL.search(said)
    if found is None:
        return _of_two_classes(crash) if _NOT_A_PROBABILITY in said else None
    if call is None or not call.births:
        return told("label-out-of-range", crash)
    scores = call.births[0]
    classes = scores.shape[1] if len(scores.shape) > 1 else scores.shape[0]
    label = found.group(1)
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


def _of_two_classes(crash: Crash) -> Finding:
    """Binary cross-entropy takes labels from 0 to 1."""
    births = crash.call.births[1:2] if crash.call is not None else ()
    span = _values.span(crash, 1)
    return told(
        "label-out-of-range",
        crash,
        title=f"binary cross-entropy wants labels from 0 to 1, these go from {span}" if span is not None else None,
        evidence=[] if span is None else span.evidence("label"),
        chain=[link for birth in births for link in _history.of_shapes(birth)],
    )
