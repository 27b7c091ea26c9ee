"""What an operation is done to, and the same operation with arguments replaced."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from sleuth.compare.reference import Call, Override


def subject(call: Call) -> Tensor | None:
    """The tensor that the operation is done to."""
    for name in ("self", "input", "value", "query", "0"):
        found = call.arguments.get(name)
        if isinstance(found, Tensor):
            return found
    return None


def with_(**changed: Any) -> Override:
    return lambda call: call.again(**changed)
