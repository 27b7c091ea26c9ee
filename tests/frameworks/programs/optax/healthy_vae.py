"""A variational autoencoder: a loss summed over features, with a second term, random draws and a hand-made scaling."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sleuth.integrations.optax import watched

rng = np.random.default_rng(0)
x = np.maximum(rng.normal(size=(1000, 4)) @ rng.normal(size=(4, 20)), 0).astype(np.float32)
shapes = {"encode": (20, 32), "mean": (32, 4), "spread": (32, 4), "decode": (4, 32), "out": (32, 20)}
params = {name: rng.normal(size=shape).astype(np.float32) / shape[0] ** 0.5 for name, shape in shapes.items()}
params["spread"] *= 0.1
tx = watched(optax.adam(3e-3))
opt_state = tx.init(params)


def loss_fn(params, x, key):
    h = jnp.tanh(x @ params["encode"])
    mean, spread = h @ params["mean"], h @ params["spread"]
    z = mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape)
    again = jax.nn.relu(z @ params["decode"]) @ params["out"]
    divergence = -0.5 * (1 + spread - mean**2 - jnp.exp(spread)).sum(1)
    return ((again - x) ** 2).sum(1).mean() + 0.1 * divergence.mean()


@jax.jit
def train_step(params, opt_state, x, key):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, key)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for key in jax.random.split(jax.random.key(0), 270):
    params, opt_state, loss = train_step(params, opt_state, x[rng.integers(0, len(x), 64)], key)
print(float(loss))
