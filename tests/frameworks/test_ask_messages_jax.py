"""The signatures of JAX know the messages that the installed JAX gives."""

from __future__ import annotations

import pytest
from other_process import errors_of, names_in
from recognising import errors_in

# One process imports JAX once, makes every error happen and prints what Python would.
PROGRAM = r"""
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jnp.ones(3)
kept = []


def leak():
    jax.jit(lambda value: kept.append(value))(1.0)
    return kept[0] + 1


def nan():
    jax.config.update("jax_debug_nans", True)
    try:
        return jnp.log(-1.0)
    finally:
        jax.config.update("jax_debug_nans", False)


def deleted():
    y = jnp.ones(4)
    y.delete()
    return y + 1


RAISED = {
    "tracer-bool": lambda: jax.jit(lambda v: v if v > 0 else -v)(1.0),
    "tracer-integer": lambda: jax.jit(lambda n: len(range(n)))(3),
    "tracer-concrete": lambda: jax.jit(lambda v: float(v))(3.0),
    "tracer-array": lambda: jax.jit(lambda v: np.sin(v))(3.0),
    "shape-not-concrete": lambda: jax.jit(lambda n: jnp.zeros(n))(3),
    "slice-not-static": lambda: jax.jit(lambda n: jnp.ones(5)[:n])(3),
    "boolean-index": lambda: jax.jit(lambda v: v[v > 0])(x),
    "tracer-leak": leak,
    "assignment": lambda: x.__setitem__(0, 1),
    "jax-broadcast": lambda: jnp.ones(3) + jnp.ones(4),
    "jax-dot": lambda: jnp.ones((2, 3)) @ jnp.ones((4, 5)),
    "jax-reshape": lambda: jnp.ones(6).reshape(4, 2),
    "jax-concatenate": lambda: jnp.concatenate([jnp.ones((2, 3)), jnp.ones((2, 4))]),
    "jax-convolution": lambda: jax.lax.conv(jnp.ones((1, 3, 5, 5)), jnp.ones((2, 4, 3, 3)), (1, 1), "SAME"),
    "grad-not-scalar": lambda: jax.grad(lambda v: v)(x),
    "grad-of-integers": lambda: jax.grad(lambda v: v * 2)(3),
    "debug-nans": nan,
    "static-not-hashable": lambda: jax.jit(lambda v, s: v, static_argnums=1)(x, [1]),
    "not-a-jax-type": lambda: jax.jit(lambda v: v)("a"),
    "scan-carry": lambda: jax.lax.scan(lambda c, v: (c.astype(jnp.int32), v), jnp.float32(0), x),
    "cond-branches": lambda: jax.lax.cond(True, lambda: jnp.ones(2), lambda: jnp.ones(3)),
    "vmap-sizes": lambda: jax.vmap(lambda a, b: a + b)(jnp.ones(3), jnp.ones(4)),
    "pytree-structure": lambda: optax.apply_updates({"a": x}, {"b": x}),
    "prng-key": lambda: jax.random.normal(3),
    "array-deleted": deleted,
    "jax-no-gpu": lambda: jax.devices("gpu"),
    "resource-exhausted": lambda: jnp.zeros((10**7, 10**7)),
    "jax-scalar-conversion": lambda: float(x),
    "jax-indices": lambda: x[0, 0],
    "jax-index-type": lambda: x[1.0],
    "jax-removed": lambda: jax.ops.index_update,
    "numpy-truth": lambda: bool(x > 0),
}
"""
NAMES = names_in(PROGRAM)


@pytest.fixture(scope="session")
def said() -> dict[str, str]:
    return errors_of(PROGRAM)


@pytest.mark.parametrize("name", NAMES)
def test_the_message_is_known_by_its_signature(said: dict[str, str], name: str) -> None:
    from sleuth.triage import ask

    known = [match.signature.name for match in errors_in(said[name])]
    assert known[:1] == [name]
    answer = ask(said[name])
    assert answer.signature is not None
    assert "…" not in answer.signature.why


def test_the_table_is_read_whole() -> None:
    assert len(NAMES) == 32
