"""Modules that are imported as they are, and changed then."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any


class Changing(importlib.abc.MetaPathFinder):
    """Finds the modules that have a change, and makes it once their own code has run."""

    def __init__(self, changes: Mapping[str, Callable[[ModuleType], None]]) -> None:
        self.changes = changes

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if name not in self.changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            plain = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                plain(module)
                self.changes[name](module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
