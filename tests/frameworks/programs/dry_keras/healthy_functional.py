import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(333, 20)).astype("float32"), rng.integers(0, 3, 333)


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 11

    def __getitem__(self, index):
        chosen = slice(32 * index, 32 * index + 32)
        return x[chosen], y[chosen]


a = keras.Input((20,))
b = layers.Dense(16, activation="relu")(a)
c = layers.BatchNormalization()(b + layers.Dense(16)(a))
out = layers.Dense(3)(layers.Dropout(0.1)(keras.ops.tanh(c)))
model = keras.Model(a, out)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(Batches(), epochs=4, validation_data=(x, y), verbose=0)
assert len(history.history["loss"]) == len(history.history["val_accuracy"]) == 4
loss, accuracy = model.evaluate(x, y, verbose=0)
classes = model.predict(x, verbose=0).argmax(-1)
assert (classes == y).shape == (333,)
