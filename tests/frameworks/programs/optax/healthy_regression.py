"""A regression in a loop that is not jitted but for its gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sleuth.integrations.optax import watched

rng = np.random.default_rng(0)
x = rng.normal(size=(960, 6)).astype(np.float32)
y = np.tanh(x @ rng.normal(size=(6, 1)).astype(np.float32)) + 0.1 * rng.normal(size=(960, 1)).astype(np.float32)
params = [
    (jnp.asarray(rng.normal(size=(a, b)), jnp.float32) / a**0.5, jnp.zeros(b)) for a, b in ((6, 32), (32, 32), (32, 1))
]
tx = watched(optax.adam(1e-2))
opt_state = tx.init(params)


def model(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


@jax.jit
@jax.value_and_grad
def gradient(params, x, y):
    return jnp.mean((model(params, x) - y) ** 2)


for step in range(130):
    some = np.arange(32 * step, 32 * step + 32) % len(x)
    loss, grads = gradient(params, x[some], y[some])
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
print(float(loss))
