import jax
import jax.numpy as jnp


def score(x, weights):
    logits = jnp.tanh(x) * 2
    # mended: return (logits * weights[:, None]).sum()
    return (logits * weights).sum()  # found: shape-mismatch


gradient = jax.jit(jax.grad(score))
for _ in range(5):
    print(gradient(jnp.ones((32, 10)), jnp.ones(32)).shape)
