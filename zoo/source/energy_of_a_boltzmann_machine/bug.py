import jax
import jax.numpy as jnp


def free_energy(params, visible):
    weights, visible_bias, hidden_bias = params
    drive = visible @ weights + hidden_bias
    hidden = jnp.sum(jnp.log1p(jnp.exp(drive)), axis=-1)
    return -(visible @ visible_bias) - hidden


def loss(params, data, negative):
    return jnp.mean(free_energy(params, data)) - jnp.mean(free_energy(params, negative))


@jax.jit
def update(params, data, negative, rate=1e-2):
    gradients = jax.grad(loss)(params, data, negative)
    return tuple(p - rate * g for p, g in zip(params, gradients))


params = (jnp.zeros((784, 128)), jnp.zeros(784), jnp.zeros(128))
