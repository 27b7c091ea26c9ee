"""Gradient descent with a learning rate that drops once the loss is small."""

import jax
import jax.numpy as jnp


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def update(w, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(w, x, y)
    rate = 0.1
    norm = jnp.sqrt(jnp.sum(w**2) + 1e-12)
    if norm > 10.0:
        rate = 0.01
    return w - rate * grads, loss


w = jnp.zeros(5)
x = jnp.ones((8, 5))
y = jnp.arange(8.0)
for _ in range(100):
    w, loss = update(w, x, y)
print(loss)
