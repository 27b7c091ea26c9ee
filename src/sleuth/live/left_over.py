"""Modes of ours that could not leave torch's stack when they were done, because another lay above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sleuth.frameworks.torch_private import get


def clear_away(is_ours: Callable[[Any], bool]) -> None:
    """Take them off; those of the program stay, in their order."""
    pop, push = get("torch._C._pop_torch_function_stack"), get("torch._C._push_on_torch_function_stack")
    if pop is None or push is None:
        return
    modes = [pop() for _ in range(get("torch._C._len_torch_function_stack")())]
    for mode in reversed(modes):
        if not is_ours(mode):
            push(mode)
