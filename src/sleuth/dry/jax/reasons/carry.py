"""A loop or branch of JAX whose parts do not agree about types."""

from __future__ import annotations

import re

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding

_TYPES = re.compile(r"has type (\S+?\]) but the corresponding output (?:of \S+ |carry component )has type (\S+?\])")


def explain(trouble: Trouble) -> Finding | None:
    kind = re.match(r"(scan|while_loop|fori_loop) body|(cond|switch) branches", trouble.text)
    if kind is None and "carry input and carry output must have equal types" not in trouble.text:
        return None
    types = _TYPES.search(trouble.text)
    name = next((group for group in (kind.groups() if kind else ()) if group), "scan")
    if types is None:
        return trouble.finding("shape-mismatch", trouble.text.splitlines()[0], chain=[])
    before, after = types.groups()
    same_shape = before.partition("[")[2] == after.partition("[")[2]
    part = "carry comes in" if name in ("scan", "while_loop", "fori_loop") else "branches differ: one gives"
    return trouble.finding(
        "dtype-mismatch" if same_shape else "shape-mismatch",
        f"{name}: the {part} as {before} and {'goes out' if 'carry' in part else 'another'} as {after}",
        [("first type", before), ("second type", after)],
        [f"start from an array of type {after}, or return one of type {before}"],
        chain=[],
    )
