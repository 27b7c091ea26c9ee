"""Putting something of ours in the place of a library's: it looks like what it stands for, and goes without a trace."""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from types import FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_MISSING = object()
# Private modules, and the public ones under whose name their functions are known and pickled.
_PUBLIC = {"posix": "os", "nt": "os", "_io": "io"}
_AS_IT_LOOKS = ("__name__", "__qualname__", "__module__", "__doc__")


class Patches:
    """Everything that was replaced or registered, with the way back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []
        # What was replaced, in that order: owner, name, what was there (`_MISSING` for nothing), what is there now.
        self._made: list[tuple[Any, str, Any, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> Any:
        """Set `owner.name`; returns what `owner` itself had there (None where it had nothing)."""
        old = vars(owner).get(name, _MISSING)
        new = dressed(value, inspect.getattr_static(owner, name, None))

        def put_back() -> None:
            self._made.pop()
            # Whoever has replaced it since keeps his.
            if vars(owner).get(name, _MISSING) is new:
                _put(owner, name, old)

        self._made.append((owner, name, old, new))
        self._undo.append(put_back)
        setattr(owner, name, new)
        return None if old is _MISSING else old

    def later(self, *undo: Callable[[], object]) -> None:
        """Call these, too, when all is undone."""
        self._undo += undo

    def undo(self) -> None:
        """Put everything back, the last first."""
        while self._undo:
            self._undo.pop()()

    def replaced(self) -> list[tuple[Any, str, Any, Any]]:
        """Every place where something was and something of ours now is: owner, name, what was there, what is."""
        return [(owner, name, old, new) for owner, name, old, new in self._made if old is not _MISSING]

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Meanwhile the libraries are as they were; what was registered stays."""
        for owner, name, old, _ in reversed(self._made):
            _put(owner, name, old)
        try:
            yield
        finally:
            for owner, name, _, new in self._made:
                setattr(owner, name, new)


def _put(owner: Any, name: str, value: Any) -> None:
    if value is not _MISSING:
        setattr(owner, name, value)
    elif name in vars(owner):
        delattr(owner, name)


def dressed(value: Any, original: Any) -> Any:
    """The function or class with the name, text, home and signature of the one in whose place it comes."""
    if isinstance(value, staticmethod | classmethod):
        return type(value)(dressed(value.__func__, getattr(original, "__func__", original)))
    stood = original.__func__ if isinstance(original, staticmethod | classmethod) else original
    if isinstance(value, FunctionType) and callable(stood):
        return _dressed_function(value, stood)
    if isinstance(value, type) and isinstance(stood, type) and stood is not value:
        for name in _AS_IT_LOOKS:
            setattr(value, name, getattr(stood, name))
        value.__wrapped__ = stood  # type: ignore[attr-defined]
    return value


def _dressed_function(value: FunctionType, original: Any) -> FunctionType:
    worn = vars(value).get("__wrapped__")
    if worn is original or value is original:
        return value
    new = value if worn is None else _copy(value)
    functools.update_wrapper(new, original)
    # A partial, or another object that can be called, has no name.
    if hasattr(original, "__qualname__"):
        new.__module__, new.__qualname__ = known_as(original)
    if isinstance(original, FunctionType):
        # TorchScript reads the source of the one and would look up its names where the other was written.
        inner = vars(original).get("__prepare_scriptable__", lambda: original)
        new.__prepare_scriptable__ = inner  # type: ignore[attr-defined]
    return new


def known_as(original: Any) -> tuple[str, str]:
    """The module and the name in it by which a function of Python's own making is found again, e.g. by a pickle."""
    module = getattr(original, "__module__", None) or getattr(original, "__objclass__", type(original)).__module__
    # A function in C may belong to a class that nobody can reach by its name.
    hidden = inspect.isbuiltin(original) and not isinstance(original.__self__, ModuleType)
    return _PUBLIC.get(module, module), original.__name__ if hidden else original.__qualname__


def _copy(function: FunctionType) -> FunctionType:
    """Another function that does the same: one that stands in several places looks like each of them."""
    new = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return new
