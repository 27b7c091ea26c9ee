import jax
import jax.numpy as jnp


def rms_norm(x, gain):
    energy = jnp.mean(jnp.square(x), axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(energy + 1e-6) * gain


def block(params, x):
    h = rms_norm(x, params["gain"])
    return x + jnp.tanh(h @ params["inner"]) @ params["outer"]


def loss(params, tokens, goal):
    x = params["embedding"][tokens]
    return jnp.mean((block(params, x) - goal) ** 2)


gradient = jax.grad(loss)
