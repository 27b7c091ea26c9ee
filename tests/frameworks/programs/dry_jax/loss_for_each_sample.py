import jax
import jax.numpy as jnp
import optax


def loss_of(w, x, y):
    losses = optax.sigmoid_binary_cross_entropy((x @ w)[:, 0], y)
    # mended: return losses.mean()
    return losses


step = jax.jit(jax.value_and_grad(loss_of))
loss, grads = step(jnp.zeros((6, 1)), jnp.ones((16, 6)), jnp.ones(16))  # found: loss-not-scalar
