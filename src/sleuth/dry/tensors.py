"""The tensors in what a call is given or gives back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

_DEEPEST = 3


def tensors_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth <= _DEEPEST and isinstance(value, list | tuple):
        for one in value:
            yield from tensors_in(one, depth + 1)
    elif depth <= _DEEPEST and isinstance(value, dict):
        for one in value.values():
            yield from tensors_in(one, depth + 1)
