import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(150, 28, 28)).astype("float32"), rng.integers(0, 10, 150)
model = keras.Sequential(
    [
        # mended: keras.Input((28, 28)), layers.Flatten(),
        keras.Input((784,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=5, verbose=0)  # found: shape-mismatch
