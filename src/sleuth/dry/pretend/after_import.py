"""Changes to a library from the moment the program itself imports it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def after_import(stage: Stage, name: str, change: Callable[[Any], None]) -> None:
    """Call `change(module)` once the module is there; at once if it is."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        change(module)
        return
    finder = _Finder(name, change)
    sys.meta_path.insert(0, finder)
    stage.patches.later(finder.remove)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, change: Callable[[Any], None]) -> None:
        self.name = name
        self.change = change
        self.asking_others = False

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.name or self.asking_others:
            return None
        self.asking_others = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking_others = False
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                self.remove()
                load(module)
                self.change(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
