import keras
import numpy as np
from keras import layers

from sleuth.integrations.keras import SleuthCallback


class Trained(keras.Model):
    def train_step(self, data):
        x, y = data
        loss = self.compute_loss(x, y, self(x, training=True))
        # mended: self.zero_grad(); loss.backward()
        loss.backward()  # found: missing-zero-grad
        variables = self.trainable_variables
        self.optimizer.apply([v.value.grad for v in variables], variables)
        return {"loss": loss}


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(960, 8)).astype("float32")
y = (x[:, 0] + 2 * x[:, 1] > 0).astype("int32")
inputs = keras.Input((8,))
model = Trained(inputs, layers.Dense(2)(layers.Dense(32, activation="relu")(inputs)))
model.compile(optimizer=keras.optimizers.SGD(0.05), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=2, callbacks=[SleuthCallback()])
