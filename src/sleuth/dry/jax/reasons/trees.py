"""Gradients, optimiser state and parameters that are not the same tree."""

from __future__ import annotations

import re

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding

_KEYS = re.compile(r"with \d+ child keys?\n\s+(.*?)\n.*?with \d+ child keys?\n\s+(.*?)(?:\n|$)", re.DOTALL)
_TYPES = re.compile(r"subtree of type\n\s+<class '(\w+)'>.*?different type\n\s+<class '(\w+)'>", re.DOTALL)


def explain(trouble: Trouble) -> Finding | None:
    if "pytree structure error" not in trouble.text and "key mismatch" not in trouble.text:
        return None
    keys, types = _KEYS.search(trouble.text), _TYPES.search(trouble.text)
    if keys is not None:
        title = f"trees with different keys: {keys[1].strip()} against {keys[2].strip()}"
    elif types is not None:
        title = f"trees of different kinds: a {types[1]} against a {types[2]}"
    else:
        title = "parameters, gradients and optimiser state are not the same tree"
    fixes = ["the same parameters for optimizer.init, jax.grad and optimizer.update"]
    return trouble.finding("shape-mismatch", title, fixes=fixes, chain=[])
