"""An operation that wants another number of dimensions: the axis of the batch or of the channels is missing."""

from __future__ import annotations

import re

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_ASKED = re.compile(r"Dimension out of range.*but got (-?\d+)")
_WANTED = re.compile(r"(\d)-?D(?: \((?:un)?batched\))?(?: or (\d)-?D)?")


def explain(crash: Crash) -> Finding | None:
    if not _messages.is_about_dimensions(crash.message):
        return None
    birth = _input(crash)
    if birth is None:
        return None
    axes = _words.count(len(birth.shape), "dimension")
    return told(
        "wrong-number-of-dimensions",
        crash,
        title=f"{_who(crash)} is given {_words.shape(birth.shape)}, {axes}{_wanted(crash)}",
        chain=_history.of_shapes(birth),
        fixes=[_missing_axis(crash, birth)],
    )


def _input(crash: Crash) -> Birth | None:
    at_work = _scene.layer(crash)
    given = at_work[1].get("input") if at_work is not None else None
    if given is not None and hasattr(given, "shape"):
        return crash.stage.births[given]
    births = crash.call.births if crash.call is not None else ()
    return next((birth for birth in births if not _history.is_weight(birth)), None)


def _who(crash: Crash) -> str:
    at_work = _scene.layer(crash)
    if at_work is not None:
        return _words.called(at_work[0], _scene.name_of(crash, at_work[0]))
    return _words.operation(crash.call.operation) if crash.call is not None else "the operation"


def _sizes(crash: Crash) -> list[int]:
    found = _WANTED.search(crash.message)
    return [int(size) for size in found.groups() if size] if found is not None else []


def _wanted(crash: Crash) -> str:
    asked = _ASKED.search(crash.message)
    if asked is not None:
        return f": there is no dimension {asked.group(1)}, they count from 0"
    sizes = _sizes(crash)
    return f", and wants {' or '.join(str(size) for size in sizes)}" if sizes else ""


def _missing_axis(crash: Crash, birth: Birth) -> Fix | None:
    """Pictures without an axis for their channels, or one sample without an axis for the batch."""
    sizes = _sizes(crash)
    if not sizes or max(sizes) - len(birth.shape) != 1:
        return None
    dealt = crash.stage.dealt
    is_a_batch = dealt is not None and birth.shape[:1] == (dealt.size,)
    axis, word = (1, "the channels") if is_a_batch else (0, "the batch")
    return Fix(f"add an axis for {word}: `.unsqueeze({axis})`")
