"""Operations that others name when they are imported, and that nobody calls."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (), {})
