"""A Reshape to another number of elements."""

from __future__ import annotations

import math
import re

from sleuth.dry.keras.trouble import Trouble, shape_in
from sleuth.findings import Finding

_SIZES = re.compile(r"total size of the tensor must be unchanged.*?input_shape=(\(.*?\)), target_shape=(\(.*?\))")


def explain(trouble: Trouble) -> Finding | None:
    found = _SIZES.search(trouble.text)
    if found is None:
        return None
    given, target = shape_in(found[1]), shape_in(found[2])
    have = math.prod(size for size in given if size)
    fixed = math.prod(size for size in target if size and size > 0)
    fixes = []
    if len(target) > 1 and fixed and have % math.prod(target[1:]) == 0 and math.prod(target[1:]) > 0:
        fixes.append(f"Reshape({(have // math.prod(target[1:]), *target[1:])}) holds {have} elements")
    fixes.append(f"a Reshape to {have} elements in all, as {given} has")
    return trouble.finding(
        "shape-mismatch",
        f"{given} has {have} elements and cannot become {target}, which has {fixed}",
        [("elements given", have), ("elements asked for", fixed)],
        fixes,
    )
