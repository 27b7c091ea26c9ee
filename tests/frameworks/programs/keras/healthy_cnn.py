"""A CNN with normalisation, dropout and a schedule, probabilities at its end, and validation data."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 4, 640)
x = rng.normal(size=(640, 8, 8, 1)).astype("float32")
x[np.arange(640), 2 * (y // 2), 2 * (y % 2)] += 4
model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(8, 3, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dropout(0.1),
        layers.Flatten(),
        layers.Dense(4, activation="softmax"),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(3e-3, 160)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3, clipnorm=1.0),
    loss="categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x, np.eye(4)[y], batch_size=16, epochs=4, verbose=2, validation_split=0.2)
