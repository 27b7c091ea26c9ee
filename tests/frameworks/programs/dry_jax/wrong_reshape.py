import jax
import jax.numpy as jnp


@jax.jit
def forward(w, x):
    pooled = x[:, ::2, ::2]
    # mended: flat = pooled.reshape(-1, 14 * 14)
    flat = pooled.reshape(16, 28 * 28)  # found: shape-mismatch
    return flat @ w


print(forward(jnp.ones((14 * 14, 3)), jnp.ones((16, 28, 28))).shape)
