import jax
import jax.numpy as jnp
import optax

params = {"encoder": jnp.ones((4, 3)), "head": jnp.ones((3, 1))}
optimizer = optax.adam(1e-2)
# mended: state = optimizer.init(params)
state = optimizer.init({"head": params["head"]})


def loss_of(params, x):
    return jnp.mean((x @ params["encoder"] @ params["head"]) ** 2)


for _ in range(3):
    grads = jax.grad(loss_of)(params, jnp.ones((8, 4)))
    updates, state = optimizer.update(grads, state, params)  # found: shape-mismatch
    params = optax.apply_updates(params, updates)
