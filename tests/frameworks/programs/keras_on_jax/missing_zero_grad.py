import jax
import keras
import numpy as np
from keras import layers

from sleuth.integrations.keras import SleuthCallback


class Trained(keras.Model):
    """Means to gather the gradients of several batches, and never starts anew."""

    def train_step(self, state, data):
        variables, others, optimizer, metrics = state
        others, total = others[: -len(variables)], others[-len(variables) :]
        x, y = data
        differentiate = jax.value_and_grad(self.loss_of, has_aux=True)
        (loss, y_pred), grads = differentiate(variables, others + total, x, y)  # found: missing-zero-grad
        # mended: total = list(grads)
        total = [a + b for a, b in zip(total, grads)]
        variables, optimizer = self.optimizer.stateless_apply(optimizer, total, variables)
        return {"loss": loss}, (variables, others + total, optimizer, metrics)

    def loss_of(self, variables, others, x, y):
        y_pred, _ = self.stateless_call(variables, others, x, training=True)
        return self.compute_loss(x, y, y_pred), y_pred


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(960, 8)).astype("float32")
y = (x[:, 0] + 2 * x[:, 1] > 0).astype("int32")
inputs = keras.Input((8,))
model = Trained(inputs, layers.Dense(2)(layers.Dense(32, activation="relu")(inputs)))
model.total = [model.add_weight(v.shape, "zeros", trainable=False) for v in model.trainable_variables]
model.compile(optimizer=keras.optimizers.SGD(0.05), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=2, callbacks=[SleuthCallback()])
