import jax
import jax.numpy as jnp


def cell(state, x):
    # mended: state = jnp.tanh(state + x)
    state = jnp.concatenate([state, x])
    return state, state.sum()


last, sums = jax.lax.scan(cell, jnp.zeros(3), jnp.ones((5, 3)))  # found: shape-mismatch
print(sums)
