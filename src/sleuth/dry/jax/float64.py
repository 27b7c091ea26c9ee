"""float64 that was asked for and is not given: JAX says so in a warning that is easily lost."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import TYPE_CHECKING, Any

from sleuth import handbook
from sleuth.findings import Evidence, Fix
from sleuth.program import users_frame, users_place

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    original = warnings.warn

    @functools.wraps(original)
    def warn(message: Any, category: Any = None, stacklevel: int = 1, *args: Any, **kwargs: Any) -> None:
        text = str(message)
        if "float64" in text and "truncated to dtype float32" in text and "jax" in text.lower():
            _tell(stage, text)
        original(message, category, stacklevel + 1, *args, **kwargs)

    stage.patches.set(warnings, "warn", warn)


def _tell(stage: Stage, text: str) -> None:
    if users_frame(sys._getframe(1)) is None:
        return
    stage.journal.finding(
        handbook.finding(
            "float64-without-x64",
            place=users_place(sys._getframe(1)),
            severity="warning",
            evidence=[Evidence("warning", text.splitlines()[0])],
            fixes=[Fix(title='jax.config.update("jax_enable_x64", True) at the top, or float32 on purpose')],
        )
    )
