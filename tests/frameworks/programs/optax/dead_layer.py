import jax
import jax.numpy as jnp
import numpy as np
import optax

from sleuth.integrations.optax import watched

rng = np.random.default_rng(0)
x = rng.normal(size=(960, 8)).astype(np.float32)
y = (x[:, 0] + 2 * x[:, 1] > 0).astype(np.int32)
params = {
    "hidden": {
        "kernel": rng.normal(size=(8, 32)).astype(np.float32) / 8**0.5,
        # mended: "bias": np.zeros(32, np.float32),
        "bias": np.full(32, -20, np.float32),
    },
    "out": {"kernel": rng.normal(size=(32, 2)).astype(np.float32) / 32**0.5, "bias": np.zeros(2, np.float32)},
}
params = jax.tree.map(jnp.asarray, params)
tx = watched(optax.adam(3e-3))
opt_state = tx.init(params)


def loss_fn(params, x, y):
    h = jax.nn.relu(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])  # found: dead-units
    logits = h @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for epoch in range(2):
    order = rng.permutation(len(x))
    for i in range(0, len(x), 16):
        batch = order[i : i + 16]
        params, opt_state, loss = train_step(params, opt_state, x[batch], y[batch])
    print(epoch, float(loss))
