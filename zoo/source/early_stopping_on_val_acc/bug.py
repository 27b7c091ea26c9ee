"""Stops when the validation accuracy no longer rises, and shows its course."""

import keras
import numpy as np

rng = np.random.default_rng(0)
x = rng.random((500, 12)).astype("float32")
y = (x[:, 0] > 0.5).astype("int32")

model = keras.Sequential(
    [keras.Input((12,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2, activation="softmax")]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
stop = keras.callbacks.EarlyStopping(monitor="val_acc", patience=3)
history = model.fit(x, y, validation_split=0.2, epochs=20, callbacks=[stop])
print(max(history.history["val_accuracy"]))
