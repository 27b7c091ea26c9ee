import jax.numpy as jnp
import numpy as np
from jax import grad, jit


def negative_log_likelihood(parameters, observed):
    mean, log_scale = parameters
    residual = (observed - mean) * jnp.exp(-log_scale)
    return jnp.sum(0.5 * residual**2 + log_scale)


slope = jit(grad(negative_log_likelihood))


def fit(observed, rate=1e-3, rounds=1000):
    parameters = jnp.zeros(2)
    for _ in range(rounds):
        parameters = parameters - rate * slope(parameters, observed)
    return parameters


if __name__ == "__main__":
    sample = np.random.default_rng(0).normal(3.0, 2.0, size=200)
    mean, log_scale = fit(jnp.asarray(sample))
    print(f"mean {float(mean):.2f}, standard deviation {float(jnp.exp(log_scale)):.2f}")
