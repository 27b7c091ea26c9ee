import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(70, 5, 5)).astype("float32"), rng.normal(size=(70, 1)).astype("float32")
model = keras.Sequential([keras.Input((5, 5)), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=3, verbose=0)
assert model.predict(x, verbose=0).shape == (70, 1)
# mended: print(model.predict(x[:1], verbose=0))
print(model.predict(x[0], verbose=0))  # found: shape-mismatch
