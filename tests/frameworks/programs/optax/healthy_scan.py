"""A whole epoch in one jitted scan, with momentum and gradients that are summed by hand over two halves of a batch."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sleuth.integrations.optax import watched

rng = np.random.default_rng(0)
x = rng.normal(size=(1280, 8)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.float32)
params = {
    "w1": rng.normal(size=(8, 64)).astype(np.float32) / 8**0.5,
    "b1": np.zeros(64, np.float32),
    "w2": rng.normal(size=(64, 1)).astype(np.float32) / 8,
}
params = jax.tree.map(jnp.asarray, params)
optimizer = optax.sgd(0.3, momentum=0.9)
tx = watched(optimizer)


def loss_fn(params, x, y):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    return optax.sigmoid_binary_cross_entropy((h @ params["w2"])[:, 0], y).mean()


def train_step(carry, batch):
    params, opt_state = carry
    x, y = batch
    first = jax.grad(loss_fn)(params, x[:16], y[:16])
    loss, second = jax.value_and_grad(loss_fn)(params, x[16:], y[16:])
    grads = jax.tree.map(lambda a, b: (a + b) / 2, first, second)
    updates, opt_state = tx.update(grads, opt_state, params)
    return (optax.apply_updates(params, updates), opt_state), loss


@jax.jit
def epoch(params, opt_state, x, y):
    carry, losses = jax.lax.scan(train_step, (params, opt_state), (x, y))
    return *carry, losses.mean()


opt_state = tx.init(params)
for _ in range(6):
    order = rng.permutation(len(x)).reshape(40, 32)
    params, opt_state, loss = epoch(params, opt_state, x[order], y[order])
print(float(loss))
