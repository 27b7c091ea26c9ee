"""Modes of ours that could not leave torch's stack when they were done, because another lay above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def clear_away(is_ours: Callable[[Any], bool]) -> None:
    """Take them off; those of the program stay, in their order."""
    stack: Any = torch._C
    modes = [stack._pop_torch_function_stack() for _ in range(stack._len_torch_function_stack())]
    for mode in reversed(modes):
        if not is_ours(mode):
            stack._push_on_torch_function_stack(mode)
