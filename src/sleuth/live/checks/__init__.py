"""One file a diagnosis of a non-finite number, named after it. Each has `check(birth) -> Verdict | None`.

A check that tells a special case of others names them in REFINES and is asked before them; a check marked FALLBACK is
asked after all that are not."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache
from types import ModuleType

from sleuth.live.births import Birth, Verdict


@cache
def in_order() -> tuple[tuple[str, ModuleType], ...]:
    """All checks, each before those that it refines."""
    modules = {
        info.name: importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
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


def verdict(birth: Birth) -> Verdict | None:
    """What the first check that knows this birth says of it."""
    for diagnosis, module in in_order():
        answer: Verdict | None = module.check(birth)
        if answer is not None:
            return dataclasses.replace(answer, diagnosis=diagnosis)
    return None
