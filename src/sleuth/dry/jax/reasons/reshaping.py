"""A reshape to another number of elements."""

from __future__ import annotations

import re

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding

_SIZES = re.compile(r"cannot reshape array of shape (\(.*?\)) \(size (\d+)\) into shape (\(.*?\))")


def explain(trouble: Trouble) -> Finding | None:
    found = _SIZES.search(trouble.text)
    if found is None:
        return None
    given, have, target = found.groups()
    return trouble.finding(
        "shape-mismatch",
        f"{given} has {have} elements and cannot become {target}",
        [("given shape", given), ("elements given", int(have)), ("asked for", target)],
        ["x.reshape(x.shape[0], -1) keeps the batch and takes what is there"],
    )
