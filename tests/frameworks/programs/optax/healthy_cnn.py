"""A CNN with dropout and weight decay, a schedule and clipping, random keys, an auxiliary output, and gradients gathered over two batches."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sleuth.integrations.optax import watched

rng = np.random.default_rng(0)
y = rng.integers(0, 4, 640).astype(np.int32)
x = rng.normal(size=(640, 8, 8, 1)).astype(np.float32)
x[np.arange(640), 2 * (y // 2), 2 * (y % 2)] += 4


def conv(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


params = {
    "conv": rng.normal(size=(3, 3, 1, 8)).astype(np.float32) / 3,
    "out": {"w": rng.normal(size=(512, 4)).astype(np.float32) / 512**0.5, "b": np.zeros(4, np.float32)},
}
schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-3, 10, 80)
inner = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-3))
tx = watched(optax.MultiSteps(inner, every_k_schedule=2))
opt_state = tx.init(params)


def loss_fn(params, x, y, key):
    h = jax.nn.relu(conv(x, params["conv"])).reshape(len(x), -1)
    h = jnp.where(jax.random.bernoulli(key, 0.9, h.shape), h / 0.9, 0)
    logits = h @ params["out"]["w"] + params["out"]["b"]
    log_p = jax.nn.log_softmax(logits)
    return -log_p[jnp.arange(len(y)), y].mean(), (logits.argmax(-1) == y).mean()


@jax.jit
def train_step(params, opt_state, x, y, key):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, y, key)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, accuracy


key = jax.random.key(0)
for step in range(160):
    key, dropout = jax.random.split(key)
    batch = rng.integers(0, len(x), 32)
    params, opt_state, loss, accuracy = train_step(params, opt_state, x[batch], y[batch], dropout)
print(float(loss), float(accuracy))
