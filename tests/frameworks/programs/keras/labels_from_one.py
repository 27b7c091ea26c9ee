import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x[:, 0] + 2 * x[:, 1] > 0).astype("int32")
# mended: y = y.astype("float32")
y = y + 1
model = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.BinaryCrossentropy(from_logits=True))
for i in range(0, 320, 16):
    model.train_on_batch(x[i : i + 16], y[i : i + 16])  # found: label-out-of-range
