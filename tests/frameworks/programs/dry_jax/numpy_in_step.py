import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def accuracy(logits, labels):
    # mended: return jnp.mean(jnp.argmax(logits, -1) == labels)
    return np.mean(np.argmax(np.asarray(logits), -1) == labels)  # found: numpy-in-jit


print(accuracy(jnp.ones((4, 3)), jnp.zeros(4, int)))
