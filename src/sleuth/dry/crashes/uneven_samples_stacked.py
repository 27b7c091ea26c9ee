"""Samples of different sizes that are to become one batch."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _scene
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Fix

REFINES = ("shape_mismatch",)
_STACK = re.compile(
    r"stack expects each tensor to be equal size, but got (\[[^\]]*\]) at entry 0 and (\[[^\]]*\]) at entry (\d+)"
    r"|each element in list of batch should be of equal size"
)


def explain(crash: Crash) -> Finding | None:
    found = _STACK.search(crash.message)
    if found is None or not _in_a_loader(crash):
        return None
    first, other, number = found.groups()
    sizes = f": {_shape(first)} and {_shape(other)}" if first else ""
    return told(
        "uneven-samples-stacked",
        crash,
        title=f"the samples of a batch have different sizes{sizes}",
        evidence=[Evidence(f"sample {int(number) + 1} of the batch", _shape(other))] if first else [],
        fixes=[Fix("make them equal in the data set (resize, crop, pad), or pad in a collate_fn of your own")],
    )


def _shape(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _in_a_loader(crash: Crash) -> bool:
    return any(
        "collate" in spot.code.co_name or "_utils/fetch" in spot.code.co_filename for spot in _scene.spots(crash)
    )
