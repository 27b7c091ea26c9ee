"""Importing Python files that the program itself has just written."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from typing import Any

from sleuth.dry.safe.layers import Layers


class WrittenModules(importlib.abc.MetaPathFinder):
    """Asked last: looks in the upper layer of every folder that Python looks in."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if self._layers.clean:
            return None
        folders = [os.path.join(self._layers.cwd, folder) for folder in (sys.path if path is None else path)]
        above = [self._layers.above(self._layers.canonical(folder)) for folder in folders]
        return importlib.machinery.PathFinder.find_spec(name, above, target)
