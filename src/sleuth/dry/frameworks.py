"""Keras and JAX, which have symbolic machinery of their own: rehearsed from when the program imports them."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import TYPE_CHECKING, Any

from sleuth.dry.after_import import after_import

if TYPE_CHECKING:
    from sleuth.dry.crash import Crash
    from sleuth.dry.stage import Stage
    from sleuth.findings import Finding

# Keras first: where it runs on JAX it knows the layers.
_FRAMEWORKS = ("keras", "jax")


def install(stage: Stage) -> None:
    for name in _FRAMEWORKS:
        after_import(stage, name, functools.partial(_installed, stage, name))


def _installed(stage: Stage, name: str, module: Any) -> None:
    importlib.import_module(f"sleuth.dry.{name}").install(stage)


def explain(crash: Crash) -> Finding | None:
    """What they say of a crash, where the program has imported them."""
    for name in _FRAMEWORKS:
        if f"sleuth.dry.{name}" in sys.modules:
            finding: Finding | None = importlib.import_module(f"sleuth.dry.{name}.explain").explain(crash)
            if finding is not None:
                return finding
    return None
