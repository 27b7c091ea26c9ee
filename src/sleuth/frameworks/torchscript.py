"""Keeping TorchScript at peace with what stands in the place of torch's functions.

The compiler knows some of them, such as `torch.autograd.grad`, by their identity alone."""

from __future__ import annotations

from functools import partial
from typing import Any

from sleuth.frameworks import torch_private
from sleuth.frameworks.patches import Patches


def keep_builtins(patches: Patches) -> None:
    """What replaces a function that the compiler knows is known to it by the same name, for as long as it stands."""
    table: dict[int, Any] | None = torch_private.get("torch.jit._builtins._get_builtin_table")()
    if table is None:
        return
    for _, _, old, new in patches.replaced():
        if id(old) in table and id(new) not in table:
            table[id(new)] = table[id(old)]
            patches.later(partial(table.pop, id(new), None))
