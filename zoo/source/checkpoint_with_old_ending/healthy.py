"""Keeps the weights of the best epoch."""

import keras
import numpy as np

rng = np.random.default_rng(0)
x = rng.random((500, 12)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
keep = keras.callbacks.ModelCheckpoint(
    "best.weights.h5", monitor="val_loss", save_best_only=True, save_weights_only=True
)
model.fit(x, y, validation_split=0.2, epochs=5, callbacks=[keep])
