"""JAX programs in a rehearsal: each compiled function is traced before it is run, by shapes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    """To be called once the program has imported jax, before it uses it."""
    import jax

    from sleuth.dry.jax import devices, float64, functions

    if hasattr(jax.jit, "__sleuth__"):
        return
    # The frames of JAX between the user's line and the error hold the arrays that do not fit.
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    stage.patches.later(lambda: jax.config.update("jax_traceback_filtering", before))
    for part in (functions, devices, float64):
        part.install(stage)
