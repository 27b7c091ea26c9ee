import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(64, 12)).astype("float32"), rng.normal(size=(64, 3)).astype("float32")
inputs = keras.Input((12,))
# mended: outputs = layers.Dense(3)(layers.Dense(16, activation="relu")(inputs))
outputs = layers.Dense(1)(layers.Dense(16, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.fit(x, y, batch_size=16, epochs=4, verbose=0)  # found: loss-broadcast
