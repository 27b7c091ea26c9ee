"""Newton's method for a root, to fifteen digits."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def f(x):
    return x**3 - 2.0


x = jnp.asarray(1.5, dtype="float64")
for _ in range(20):
    x = x - f(x) / jax.grad(f)(x)
print(f"{float(x):.15f}")
