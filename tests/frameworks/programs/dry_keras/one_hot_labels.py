import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(100, 16)).astype("float32")
y = keras.utils.to_categorical(rng.integers(0, 5, 100), 5)
inputs = keras.Input((16,))
hidden = layers.Dense(8, activation="relu")(inputs)
model = keras.Model(inputs, layers.Dense(5, activation="softmax")(hidden))
# mended: model.compile(optimizer="sgd", loss="categorical_crossentropy", metrics=["accuracy"])
model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, verbose=0)  # found: one-hot-into-sparse-loss
