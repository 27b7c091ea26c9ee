import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(130, 6)).astype("float32")
# mended: y = rng.integers(0, 3, 130)
y = rng.integers(1, 4, 130)
model = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=0)  # found: label-out-of-range
