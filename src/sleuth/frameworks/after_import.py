"""Doing something to a library at the moment the program itself has imported it.

A script may set OMP_NUM_THREADS or pick its devices before it imports torch, and must find the torch it would find
without us. So nothing is imported early, and looking a library up (`importlib.util.find_spec`) is not importing it."""

from __future__ import annotations

import importlib.abc
import sys
import threading

TYPE_CHECKING = False  # `typing` would cost every process that a watched program starts
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Callback = Callable[[], object]

# Executed, as told by any of the finders below: Python itself says so only a moment later.
_executed: set[str] = set()


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls back when a module that is waited for has been executed; at once for one that is here already.

    A callback is called once, unless it asks to be called `again` when the module is reloaded."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[Callback, bool]]] = {}
        self._asking = threading.local()

    def install(self) -> None:
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def of(self, module: str, callback: Callback, again: bool = False) -> None:
        here = is_imported(module)
        if again or not here:
            self._waiting.setdefault(module, []).append((callback, again))
        if here:
            callback()

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name not in self._waiting or name in self._names():
            return None
        self._names().add(name)
        try:
            spec = self._found_by_others(name, path, target)
        finally:
            self._names().discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = self._telling(name, spec.loader)
        return spec

    def _names(self) -> set[str]:
        """What this thread is looking up through us: a finder may well ask `importlib` in its turn."""
        if not hasattr(self._asking, "names"):
            self._asking.names = set()
        names: set[str] = self._asking.names
        return names

    def _found_by_others(self, name: str, path: Any, target: Any) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                return spec
        return None

    def _telling(self, name: str, loader: Any) -> Any:
        """The same loader, which tells when it has executed the module."""
        execute = getattr(loader, "exec_module", None)
        if execute is None or isinstance(loader, type):
            return loader

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # One loader may serve many modules, as that of a zip file does.
            if module.__name__ == name:
                self._tell(name)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            return _Telling(loader, exec_module)
        return loader

    def _tell(self, name: str) -> None:
        _executed.add(name)
        waiting = self._waiting.pop(name, [])
        staying = [one for one in waiting if one[1]]
        if staying:
            self._waiting[name] = staying
        for callback, _ in waiting:
            callback()


class _Telling:
    """Stands for a loader that takes no attribute."""

    def __init__(self, loader: Any, exec_module: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self.exec_module = exec_module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def is_imported(name: str) -> bool:
    """Imported, and not only begun to be."""
    module = sys.modules.get(name)
    begun = getattr(getattr(module, "__spec__", None), "_initializing", False)
    return module is not None and (name in _executed or not begun)
