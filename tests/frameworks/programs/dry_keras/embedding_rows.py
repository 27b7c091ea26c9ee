import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
tokens = rng.integers(0, 50, (200, 7))
tokens[199, 6] = 50
y = rng.integers(0, 2, 200)
model = keras.Sequential(
    [
        keras.Input((7,), dtype="int32"),
        # mended: layers.Embedding(51, 8),
        layers.Embedding(50, 8),  # found: embedding-too-small
        layers.GlobalAveragePooling1D(),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(tokens, y, epochs=2, verbose=0)
