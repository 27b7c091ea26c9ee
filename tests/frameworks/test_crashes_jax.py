"""Crashes of JAX programs under `sleuth run`."""

from __future__ import annotations

from collections.abc import Callable

FRAMEWORK = ("jax", "optax")


def test_shapes_that_jax_refuses_are_told_by_the_names_of_the_program(run: Callable) -> None:
    source = (
        "import jax\n"
        "import jax.numpy as jnp\n"
        "def loss(w, x):\n"
        "    return jnp.mean((x @ w) ** 2)\n"
        "w = jnp.ones((3, 1))\n"
        "for size in (3, 5):\n"
        "    w = w - 0.1 * jax.grad(loss)(w, jnp.ones((4, size)))\n"
    )
    ran = run(source)
    assert (ran.status, ran.named) == (1, [("shape-mismatch", 4)])
    told = {item["name"]: item["value"] for item in ran.findings[0]["evidence"]}
    assert (told["x"], told["w"]) == ("(4, 5) float32", "(3, 1) float32")
