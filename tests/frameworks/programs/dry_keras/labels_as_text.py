import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 6)).astype("float32")
# mended: y = rng.integers(0, 2, 60)
y = np.array(["cat", "dog"])[rng.integers(0, 2, 60)]
model = keras.Sequential([keras.Input((6,)), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=2, verbose=0)  # found: dtype-mismatch
