"""Arguments that a compiled function or a loss cannot take."""

from __future__ import annotations

import re

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding

_NOT_AN_ARRAY = re.compile(
    r"problematic value is of type <class '(\S+)'> and was passed to the function at path (\S+)\."
)


def explain(trouble: Trouble) -> Finding | None:
    found = _NOT_AN_ARRAY.search(trouble.text)
    if found is not None:
        kind, name = found.groups()
        title = f"a compiled function is given a {kind} as {name}"
        return trouble.finding("dtype-mismatch", title, fixes=[f'static_argnames="{name}"'], chain=[])
    if "JAX arrays are immutable" in trouble.text:
        return trouble.finding("assignment-into-jax-array", "a JAX array cannot be changed in place")
    dtype = re.search(r"subdtype of <class 'numpy.integer'>, got (\w+)", trouble.text)
    if dtype is not None:
        title = f"class numbers must be whole numbers, and are {dtype[1]}"
        return trouble.finding("dtype-mismatch", title, [("dtype", dtype[1])], ["labels.astype(int)"])
    return None
