import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


# mended: w = jnp.ones((4, 1), dtype=jnp.float32)
w = jnp.ones((4, 1), dtype=jnp.float64)  # found: float64-without-x64
for _ in range(5):
    w = step(w, jnp.ones((8, 4)))
