import keras
import numpy as np
from keras import layers

model = keras.Sequential()
model.add(keras.Input((10,)))
model.add(layers.Dense(49 * 2))
# mended: model.add(layers.Reshape((7, 7, 2)))
model.add(layers.Reshape((7, 7, 4)))  # found: shape-mismatch
model.add(layers.Conv2DTranspose(1, 3, strides=2, padding="same"))
model.compile("adam", "mse")
rng = np.random.default_rng(0)
model.fit(rng.normal(size=(40, 10)), rng.normal(size=(40, 14, 14, 1)), epochs=1, verbose=0)
