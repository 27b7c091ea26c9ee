"""Runs at the start of every Python process that a watched program starts: does it train?

Kept bare, since most such processes do not. Python imports one module of this name; the user's own, if there is one,
is imported after it."""

from __future__ import annotations

import importlib
import os
import sys


def _wait_for_a_framework() -> None:
    """A process that trains uses torch or JAX; until then nothing is done."""
    try:
        from sleuth.frameworks.after_import import AfterImport
    except ImportError:
        return
    imports = AfterImport()
    for library in ("torch", "jax"):
        imports.of(library, _begin)
    imports.install()


def _begin() -> None:
    try:
        from sleuth.live.ranks import children
    except ImportError:
        return
    children.begin_once()


def _users_own() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    ours = sys.modules.pop(__name__)
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError as missing:
        if missing.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, ours)


if "SLEUTH_RANKS" in os.environ:
    _wait_for_a_framework()
if __name__ == "sitecustomize":
    _users_own()
