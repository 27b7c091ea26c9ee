"""A layer with weights after an axis of unknown size."""

from __future__ import annotations

import re

from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding

_PATH = re.compile(r"must be fully-defined.*?Received: shape=(\(.*?\)) for variable path='([^/']+)")


def explain(trouble: Trouble) -> Finding | None:
    found = _PATH.search(trouble.text)
    if found is None:
        return None
    return trouble.finding(
        "shape-mismatch",
        f"{found[2]} cannot make its weights {found[1]}: the size of its input is not known",
        [("shape of the weights", found[1])],
        ["a size instead of None in keras.Input", "GlobalAveragePooling2D instead of Flatten: it needs no size"],
    )
