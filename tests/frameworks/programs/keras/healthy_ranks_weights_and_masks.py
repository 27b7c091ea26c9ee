"""Labels of another rank than the output, weighted samples and classes, masked sequences, several outputs, validation."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(480, 6)).astype("float32")
positive = (x[:, 0] > 0).astype("int32")
size = (x @ rng.normal(size=6)).astype("float32")


def body(*last):
    return keras.Sequential([keras.Input((6,)), layers.Dense(16, activation="relu"), *last])


for labels, loss in ((positive, "binary_crossentropy"), (size, "mse")):
    model = body(layers.Dense(1, activation="sigmoid" if loss == "binary_crossentropy" else None))
    model.compile("adam", loss)
    weights = rng.uniform(0.5, 2, 480).astype("float32")
    model.fit(x, labels, batch_size=16, epochs=1, verbose=0, validation_split=0.2)
    model.fit(x, labels, batch_size=16, epochs=1, verbose=0, sample_weight=weights)
model = body(layers.Dense(2, activation="softmax"))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(ignore_class=-1))
model.fit(x, np.where(rng.random(480) < 0.1, -1, positive), batch_size=16, epochs=1, verbose=0)

words = rng.integers(1, 20, (320, 10)) * (np.arange(10) < rng.integers(3, 11, (320, 1)))
tags = np.where(words > 0, words % 3, 0)
tagger = keras.Sequential(
    [keras.Input((10,)), layers.Embedding(20, 8, mask_zero=True), layers.Dense(3, activation="softmax")]
)
tagger.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy")
tagger.fit(words, tags, batch_size=16, epochs=2, verbose=0)

inputs = keras.Input((6,))
hidden = layers.Dense(16, activation="relu")(inputs)
outputs = {"sign": layers.Dense(1, activation="sigmoid")(hidden), "size": layers.Dense(1)(hidden)}
model = keras.Model(inputs, outputs)
model.compile("adam", {"sign": "binary_crossentropy", "size": "huber"}, loss_weights={"sign": 1.0, "size": 0.1})
model.fit(x, {"sign": positive, "size": size}, batch_size=16, epochs=2, verbose=0)
