"""A small network for digits in Keras."""

import keras
import numpy as np

rng = np.random.default_rng(0)
images = rng.random((600, 28, 28, 1), dtype=np.float32)
digits = rng.integers(10, size=600)

model = keras.Sequential(
    [
        keras.Input((28, 28, 1)),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.001), loss="sparse_categorical_crossentropy")
model.fit(images, digits, batch_size=50, epochs=3)
