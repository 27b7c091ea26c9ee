"""A variational autoencoder's encoder: the noise of the sample and the dropout mask have keys of their own."""

import jax
import jax.numpy as jnp
from jax import random


def init(rng, sizes):
    keys = random.split(rng, len(sizes) - 1)
    return [random.normal(k, (m, n)) / jnp.sqrt(m) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def encode(params, x, rng):
    mask_rng, noise_rng = random.split(rng)
    mask = random.bernoulli(mask_rng, 0.9, x.shape)
    hidden = jnp.tanh((x * mask) @ params[0])
    mean, log_scale = jnp.split(hidden @ params[1], 2, axis=-1)
    noise = random.normal(noise_rng, mean.shape)
    return mean + jnp.exp(log_scale) * noise


rng = random.PRNGKey(7)
rng, init_rng, data_rng = random.split(rng, 3)
params = init(init_rng, (20, 16, 8))
x = random.normal(data_rng, (32, 20))
print(encode(params, x, rng).shape)
