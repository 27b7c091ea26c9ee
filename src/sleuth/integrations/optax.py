"""`tx = watched(optax.adam(1e-3))`: an optax optimiser whose training is watched, jitted or not."""

from __future__ import annotations

import atexit
from collections.abc import Collection
from pathlib import Path
from typing import Any

import optax

from sleuth.findings import Finding
from sleuth.integrations.session import Session
from sleuth.live import EXPERIMENTS
from sleuth.live.jax import attach

# `jax.grad` and `jax.jit` tell from here on, so that functions made before the optimiser are known.
attach.prepare()


class Watched(optax.GradientTransformationExtraArgs):  # type: ignore[misc]
    """Does what the optimiser inside it does. Report at the end of the program, of a `with` block, or at `end()`."""

    _session: Session

    def end(self) -> None:
        """The training is over: judge it, and show what was found."""
        atexit.unregister(self.end)
        self._session.end()

    @property
    def findings(self) -> list[Finding]:
        """What was found so far."""
        return self._session.findings

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *error: Any) -> None:
        self.end()


def watched(
    inner: Any,
    *,
    ignore: Collection[str] = (),
    experiments: float = EXPERIMENTS,
    record: str | Path | None = None,
) -> Watched:
    """The optimiser, watched. Where `sleuth run` or `sleuth.watch()` is at work, which need no `watched`, what is found
    goes there. The settings are those of `sleuth.watch`."""
    session = Session(ignore=ignore, experiments=experiments, record=record)
    init, update = optax.with_extra_args_support(inner) if isinstance(inner, tuple) else (inner.init, inner.update)
    tx = Watched(init, update)
    tx._session = session
    atexit.register(tx.end)
    return tx
