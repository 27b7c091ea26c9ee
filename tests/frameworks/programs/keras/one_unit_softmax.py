import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x[:, 0] + 2 * x[:, 1] > 0).astype("int32")
model = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(16, activation="relu"),
        # mended: layers.Dense(1, activation="sigmoid"),
        layers.Dense(1, activation="softmax"),  # found: one-unit-softmax
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
