"""Made-up results of the right shape."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def like(shapes: Any) -> Any:
    """Zeros for each array that is described; keys for keys."""
    return jax.tree.map(_one, shapes)


def _one(described: Any) -> Any:
    if jax.dtypes.issubdtype(described.dtype, jax.dtypes.prng_key):
        return jax.random.split(jax.random.key(0), described.shape)
    return jnp.zeros(described.shape, described.dtype)
