import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
tokens = rng.integers(0, 20, (30, 6))
tokens[0, 0] = 20
# mended: table = jnp.asarray(rng.normal(size=(21, 4)))
table = jnp.asarray(rng.normal(size=(20, 4)))


@jax.jit
def step(table, tokens):
    def loss_of(table):
        return jnp.mean(table[tokens].sum(1) ** 2)  # found: embedding-too-small

    return table - 0.1 * jax.grad(loss_of)(table)


for _ in range(10):
    table = step(table, tokens)
