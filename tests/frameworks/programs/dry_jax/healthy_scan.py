import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x, y = rng.normal(size=(10, 16, 5)).astype("float32"), rng.normal(size=(10, 16)).astype("float32")
distances = jax.jit(lambda a: jnp.abs(a[:, None] - a[None, :]).sum() + jnp.abs(a[:, None] - a).sum())


class Trainer:
    def __init__(self):
        self.optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))

    @functools.partial(jax.jit, static_argnums=0)
    def epoch(self, params, state):
        def body(carry, batch):
            params, state = carry
            loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch[0] @ p["w"] - batch[1]) ** 2))(params)
            updates, state = self.optimizer.update(grads, state, params)
            return (optax.apply_updates(params, updates), state), loss

        return jax.lax.scan(body, (params, state), (x, y))


trainer = Trainer()
params = {"w": jnp.zeros(5)}
state = trainer.optimizer.init(params)
for _ in range(50):
    (params, state), losses = trainer.epoch(params, state)
print(float(losses[-1]), float(distances(jnp.arange(6.0))))
