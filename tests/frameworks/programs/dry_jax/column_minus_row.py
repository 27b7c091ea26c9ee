import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x, y = rng.normal(size=(48, 5)), rng.normal(size=48)
params = {"w": jnp.zeros((5, 1)), "b": jnp.zeros(1)}
optimizer = optax.sgd(0.1)
state = optimizer.init(params)


def loss_of(params, x, y):
    predicted = x @ params["w"] + params["b"]
    # mended: return jnp.mean((predicted[:, 0] - y) ** 2)
    return jnp.mean((predicted - y) ** 2)  # found: loss-broadcast


@jax.jit
def step(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


for _ in range(100):
    params, state, loss = step(params, state, x, y)
