"""What a crash in JAX means: the modules of `reasons`, each asked once."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._certainty import tempered
from sleuth.dry.jax import reasons
from sleuth.dry.jax.operands import failed_call
from sleuth.dry.jax.trouble import Trouble, goes_through_jax
from sleuth.findings import Finding


def explain(crash: Crash) -> Finding | None:
    """A finding where the crash is one of JAX's; None for all others."""
    if not goes_through_jax(crash.error):
        return None
    trouble = Trouble(crash, failed_call(crash.error))
    for reason in _in_order():
        finding: Finding | None = reason.explain(trouble)
        if finding is not None:
            return finding if _inside_a_trace(trouble) else tempered(finding, crash)
    return None


def _inside_a_trace(trouble: Trouble) -> bool:
    """Shapes in there are the program's own; outside an array may have been gathered in a loop that was cut short."""
    traced = any(one.operation == "argument" for birth in trouble.births for one in birth.ancestors())
    return traced or type(trouble.crash.error).__module__.partition(".")[0] == "jax"


@cache
def _in_order() -> tuple[ModuleType, ...]:
    names = sorted(info.name for info in pkgutil.iter_modules(reasons.__path__))
    modules = [importlib.import_module(f"{reasons.__name__}.{name}") for name in names]
    return tuple(sorted(modules, key=lambda module: getattr(module, "FALLBACK", False)))
