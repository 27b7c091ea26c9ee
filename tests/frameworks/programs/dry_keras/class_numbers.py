import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(100, 16)).astype("float32"), rng.integers(0, 5, 100)


class Classifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(8, activation="relu")
        self.out = layers.Dense(5, activation="softmax")

    def call(self, inputs):
        return self.out(self.hidden(inputs))


model = Classifier()
# mended: model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
model.compile(optimizer="sgd", loss="categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=0)  # found: index-into-categorical-loss
