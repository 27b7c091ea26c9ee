import keras
import numpy as np


class Project(keras.layers.Layer):
    def build(self, shape):
        # mended: self.matrix = self.add_weight(shape=(6, 4))
        self.matrix = self.add_weight(shape=(5, 4))

    def call(self, inputs):
        return keras.ops.matmul(inputs, self.matrix)  # found: shape-mismatch


rng = np.random.default_rng(0)
model = keras.Sequential([keras.Input((6,)), Project(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(rng.normal(size=(40, 6)), rng.normal(size=(40, 1)), verbose=0)
