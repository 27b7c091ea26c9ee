"""A functional model with a custom layer, a regulariser, an optimiser given by name, and accumulated gradients."""

import keras
import numpy as np
from keras import layers, ops


class Scaled(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return ops.tanh(x * self.scale)


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(960, 6)).astype("float32")
y = np.tanh(x @ rng.normal(size=(6, 1))).astype("float32")
inputs = keras.Input((6,))
hidden = Scaled()(layers.Dense(32, kernel_regularizer=keras.regularizers.L2(1e-4))(inputs))
model = keras.Model(inputs, layers.Dense(1)(hidden))
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, batch_size=16, epochs=3, verbose=2)
model.compile(optimizer=keras.optimizers.Adam(1e-2, gradient_accumulation_steps=2), loss="mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=2)
