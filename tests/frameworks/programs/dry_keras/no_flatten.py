import keras
import numpy as np
from keras import layers


class Small(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv2D(4, 3, activation="relu")
        self.flat = layers.Flatten()
        self.out = layers.Dense(10)

    def call(self, inputs):
        # mended: return self.out(self.flat(self.conv(inputs)))
        return self.out(self.conv(inputs))


rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 8, 8, 1)).astype("float32"), rng.integers(0, 10, 40)
model = Small()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x, y, verbose=0)  # found: shape-mismatch
