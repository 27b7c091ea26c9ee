"""Doing something to a library for the time of a rehearsal, once the program has imported it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sleuth.frameworks.after_import import AfterImport

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def after_import(stage: Stage, name: str, change: Callable[[Any], None]) -> None:
    """Call `change(module)` once the module is there; at once if it is."""
    imports = AfterImport()
    imports.install()
    stage.patches.later(imports.remove)
    imports.of(name, lambda: change(sys.modules[name]))
