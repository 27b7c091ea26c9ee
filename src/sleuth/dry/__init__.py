"""The engine that rehearses a program without its accelerator; called, `sleuth.dry(fn, inputs)`, a function."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """`sleuth.dry` is a package and a function of the same name: whichever was asked for first, both must work."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from sleuth.integrations.dry import dry

        return dry(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
