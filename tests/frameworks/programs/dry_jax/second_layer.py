import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
images, labels = rng.normal(size=(64, 8, 8)), rng.integers(0, 10, 64)
params = {
    "w1": jnp.asarray(rng.normal(size=(64, 32)) * 0.1),
    "b1": jnp.zeros(32),
    # mended: "w2": jnp.asarray(rng.normal(size=(32, 10)) * 0.1),
    "w2": jnp.asarray(rng.normal(size=(30, 10)) * 0.1),
}
optimizer = optax.adam(1e-3)
state = optimizer.init(params)


def model(params, images):
    flat = images.reshape(images.shape[0], -1)
    hidden = jax.nn.relu(flat @ params["w1"] + params["b1"])
    return hidden @ params["w2"]  # found: shape-mismatch


def loss_of(params, images, labels):
    return optax.softmax_cross_entropy_with_integer_labels(model(params, images), labels).mean()


@jax.jit
def step(params, state, images, labels):
    loss, grads = jax.value_and_grad(loss_of)(params, images, labels)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


for start in range(0, 64, 16):
    params, state, loss = step(params, state, images[start : start + 16], labels[start : start + 16])
print(float(loss))
