"""`jax.devices("gpu")` where there is none: the processor stands in for it."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import jax

from sleuth import handbook
from sleuth.findings import Evidence
from sleuth.program import users_frame, users_place

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_ACCELERATORS = ("gpu", "cuda", "rocm", "tpu", "METAL")


def install(stage: Stage) -> None:
    for name in ("devices", "local_devices", "device_count"):
        stage.patches.set(jax, name, _pretended(stage, getattr(jax, name)))


def _pretended(stage: Stage, original: Any) -> Any:
    @functools.wraps(original)
    def ask(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except RuntimeError:
            asked = kwargs.get("backend") or (args[0] if args else None)
            if asked not in _ACCELERATORS or users_frame(sys._getframe(1)) is None:
                raise
            _tell(stage, str(asked))
            return original()

    return ask


def _tell(stage: Stage, asked: str) -> None:
    place = users_place(sys._getframe(1))
    stage.journal.assume(place, f"the processor stands in for {asked}")
    stage.journal.finding(
        handbook.finding(
            "hard-coded-cuda",
            place=place,
            title=f"asks JAX for a {asked}: without one this raises",
            certainty="hint",
            severity="note",
            evidence=[Evidence("asked for", asked)],
        )
    )
