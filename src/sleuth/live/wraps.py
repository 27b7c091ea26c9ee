"""Functions of a framework wrapped so that they tell a listener, and unwrapped again without a trace."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class Wraps:
    """Everything that was wrapped or registered, with the way back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def also_undo(self, *ways_back: Callable[[], object]) -> None:
        self._undo += ways_back

    def wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
        original = owner.__dict__[name]
        replacement = functools.wraps(original)(wrapper(original))
        setattr(owner, name, replacement)

        def undo() -> None:
            if owner.__dict__.get(name) is replacement:
                setattr(owner, name, original)

        self._undo.append(undo)

    def remove(self) -> None:
        while self._undo:
            self._undo.pop()()


def before(tell: Callable[..., object]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def told(*args: Any, **kwargs: Any) -> Any:
            tell(*args, **kwargs)
            return original(*args, **kwargs)

        return told

    return wrapper


def after(tell: Callable[..., object]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def told(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            tell(*args, **kwargs)
            return result

        return told

    return wrapper


def after_result(tell: Callable[[Any, Any], object]) -> Callable[[Any], Any]:
    """Tells the first argument and the result."""

    def wrapper(original: Any) -> Any:
        def told(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            tell(args[0] if args else None, result)
            return result

        return told

    return wrapper
