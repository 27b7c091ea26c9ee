"""Runs at the start of every Python process that a watched program starts: is it one of its ranks?

Kept bare, since most such processes are none. Python imports one module of this name; the user's own, if there is one,
is imported after it."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class _AfterTorch(importlib.abc.MetaPathFinder):
    """A rank is a process that uses torch; until then nothing is done."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                _torch_is_here()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _torch_is_here() -> None:
    if "RANK" in os.environ:
        _begin()
        return
    public: Any = sys.modules.get("torch.distributed")
    if public is None or not public.is_available():
        return
    join = public.init_process_group

    @functools.wraps(join)
    def joining(*args: object, **kwargs: object) -> None:
        join(*args, **kwargs)
        public.init_process_group = public.distributed_c10d.init_process_group = join
        _begin()

    public.init_process_group = public.distributed_c10d.init_process_group = joining


def _begin() -> None:
    try:
        from sleuth.live.ranks import children
    except ImportError:
        return
    children.begin()


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
    sys.meta_path.insert(0, _AfterTorch())
if __name__ == "sitecustomize":
    _users_own()
