"""The same model in two runtimes: do they agree? Called, `sleuth.compare(a, b)`, a function."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """`sleuth.compare` is a package and a function of the same name: whichever was asked for first, both must work."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from sleuth.integrations.compare import compare

        return compare(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
