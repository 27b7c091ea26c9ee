"""Shapes that do not fit, in a user's own `call` or in a layer nothing more is known of."""

from __future__ import annotations

import re

from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding

FALLBACK = True
_ABOUT_SHAPES = re.compile(
    r"shapes? cannot be multiplied|dot_general requires|[Ii]ncompatible shapes|must match the size of tensor|"
    r"could not be broadcast|is invalid for input of size|cannot reshape|incompatible for|Sizes of tensors must match"
)


def explain(trouble: Trouble) -> Finding | None:
    found = _ABOUT_SHAPES.search(trouble.text)
    if found is None or trouble.failed is None:
        return None
    line = next(line for line in trouble.text.splitlines() if found[0] in line)
    return trouble.finding("shape-mismatch", f"shapes that do not fit in {trouble.failed.call.layer}: {line.strip()}")
