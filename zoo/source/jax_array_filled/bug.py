"""Discounted returns of an episode, filled in from the end as one would with NumPy."""

import jax.numpy as jnp


def discounted(rewards, gamma=0.99):
    returns = jnp.zeros(len(rewards))
    running = 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        returns[t] = running
    return returns


print(discounted([0.0, 0.0, 1.0]))
