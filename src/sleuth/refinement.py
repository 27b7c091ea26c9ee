"""The modules of a package that holds one file a diagnosis, in the order in which they are to be asked."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def in_order(package: ModuleType) -> tuple[tuple[str, ModuleType], ...]:
    """Each with the name of its diagnosis, before those it names in REFINES; those marked FALLBACK come last."""
    modules = {
        info.name: importlib.import_module(f"{package.__name__}.{info.name}")
        for info in pkgutil.iter_modules(package.__path__)
        if not info.name.startswith("_")
    }
    placed: dict[str, ModuleType] = {}

    def place(name: str) -> None:
        if name in placed:
            return
        for other, module in modules.items():
            if name in getattr(module, "REFINES", ()):
                place(other)
        placed[name] = modules[name]

    for name in sorted(modules, key=lambda name: (getattr(modules[name], "FALLBACK", False), name)):
        place(name)
    return tuple((name.replace("_", "-"), module) for name, module in placed.items())
