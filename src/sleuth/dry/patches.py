"""Attributes set for the time of a rehearsal, and put back afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> Any:
        """Set `owner.name`; returns what `owner` itself had there (None where it had nothing)."""
        old = vars(owner).get(name, _MISSING)

        def put_back() -> None:
            if old is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)

        self._undo.append(put_back)
        setattr(owner, name, value)
        return None if old is _MISSING else old

    def later(self, undo: Callable[[], object]) -> None:
        """Call this when the rehearsal is over."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Put everything back, the last first."""
        while self._undo:
            self._undo.pop()()
