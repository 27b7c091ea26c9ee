"""Doing something to a library at the moment the program has imported it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def after_import(stage: Stage, name: str, change: Callable[[Any], None]) -> None:
    """Call `change(module)` once the module is there; at once if it is."""
    imports = AfterImport()
    sys.meta_path.insert(0, imports)
    stage.patches.later(lambda: sys.meta_path.remove(imports))
    imports.of(name, lambda: change(sys.modules[name]))


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls back, once for each module that is waited for, at once for those already here."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[], object]]] = {}

    def of(self, module: str, callback: Callable[[], object]) -> None:
        if _is_here(module):
            callback()
        else:
            self._waiting.setdefault(module, []).append(callback)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in self._waiting:
            return None
        spec = self._found_by_others(name, path, target)
        if spec is None or spec.loader is None or isinstance(spec.loader, type):
            return spec
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            # Only now: many a program asks for the spec just to know whether the library is installed.
            for callback in self._waiting.pop(name, ()):
                callback()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _found_by_others(self, name: str, path: Any, target: Any) -> importlib.machinery.ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                return spec
        return None


def _is_here(name: str) -> bool:
    """Imported, and not only begun to be."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)
