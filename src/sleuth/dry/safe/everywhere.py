"""Putting a function in another's stead wherever it is already known by name: `from os import remove` has copies."""

from __future__ import annotations

import functools
import glob
import pathlib
import sys
import types
from collections.abc import Callable
from typing import Any

from sleuth.frameworks.patches import Patches, known_as

# These keep the functions themselves, for us and for Python's own imports.
_UNTOUCHED = ("posix", "nt", "_io", "_socket", "importlib._bootstrap_external", "_frozen_importlib_external")


class Stand:
    """Stands for a function, or a class that is called like one; does not become a method when kept in a class."""

    def __init__(self, function: Callable[..., Any], original: Any) -> None:
        functools.update_wrapper(self, original, updated=())
        # Where a pickle finds it again; a copy is the same function.
        self.__module__, self.__qualname__ = known_as(original)
        self._function, self._name = function, str(original.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["__wrapped__"], name)

    def __instancecheck__(self, one: object) -> bool:
        return isinstance(one, vars(self)["__wrapped__"])

    def __reduce__(self) -> str:
        return self._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def replace(patches: Patches, stands: dict[Any, Any], modules: str = "") -> None:
    """Set every function of `stands` in the other's place, in all modules, or in those below `modules`."""
    new = {id(original): stand for original, stand in stands.items()}
    for name, module in list(sys.modules.items()):
        if name in _UNTOUCHED or name.startswith("sleuth.") or not isinstance(module, types.ModuleType):
            continue
        if modules and name != modules and not name.startswith(modules + "."):
            continue
        for key, value in list(vars(module).items()):
            if id(value) in new:
                patches.set(module, key, new[id(value)])


def replace_in_classes(patches: Patches, stands: dict[Any, Any]) -> None:
    """pathlib and glob keep some functions in classes, each Python version others."""
    new = {id(original): stand for original, stand in stands.items()}
    for module in (pathlib, glob):
        for owner in [
            one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__
        ]:
            for key, value in list(vars(owner).items()):
                if id(getattr(value, "__func__", value)) in new:
                    patches.set(owner, key, new[id(getattr(value, "__func__", value))])
