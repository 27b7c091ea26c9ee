"""What a crash in Keras means: the modules of `reasons`, each asked once."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from sleuth.dry.crash import Crash
from sleuth.dry.keras import reasons
from sleuth.dry.keras.notes import notes_of
from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding


def explain(crash: Crash) -> Finding | None:
    """A finding where the crash is one of Keras's; None for all others."""
    notes = notes_of(crash.stage)
    if notes is None:
        return None
    failed = notes.failed if notes.failed is not None and notes.failed.is_behind(crash.error) else None
    trouble = Trouble(crash, notes, failed)
    for reason in _in_order():
        finding: Finding | None = reason.explain(trouble)
        if finding is not None:
            return finding
    return None


@cache
def _in_order() -> tuple[ModuleType, ...]:
    names = sorted(info.name for info in pkgutil.iter_modules(reasons.__path__))
    modules = [importlib.import_module(f"{reasons.__name__}.{name}") for name in names]
    return tuple(sorted(modules, key=lambda module: getattr(module, "FALLBACK", False)))
